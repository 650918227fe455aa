import Type from 'typebox'
import { Choice, Closed, Described, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { PROJECT_ROLES, REGIONS, VISIBILITIES } from '#core/vocabulary.ts'
import type { Invitation } from '#model/identity/invitation.ts'
import type { Project, ProjectMember } from '#model/identity/project.ts'
import { EXAMPLE_IDS } from './examples.ts'
import { NewInvitation } from './invitation.ts'

export const Name = NotBlank(255)
export const Visibility = Choice(VISIBILITIES)
export const Role = Choice(PROJECT_ROLES)
export const Region = Choice(REGIONS)

const fields = {
  id: Described(Uuid, 'Project ID'),
  organization_id: Described(Uuid, 'Organization ID'),
  name: Type.String({ description: 'Display name of the project' }),
  description: Described(Nullable(Type.String()), 'Project description; null if none'),
  visibility: Described(Visibility, 'Who can see the project: the whole organization, or members only'),
  status: Choice(['active', 'archived'], { description: 'Project status' }),
  is_archived: Type.Boolean({ description: 'Whether the project is archived and read-only' }),
  gcs_region: Described(Nullable(Region), "Storage region of the project's files; null without a bucket"),
  gcs_bucket_name: Described(Nullable(Type.String()), 'Storage bucket name; null without a bucket'),
  has_storage_bucket: Type.Boolean({ description: 'Whether the project has a storage bucket for uploads' }),
  item_count: Type.Integer({ description: 'Number of items in the project' }),
  storage_bytes: Type.Integer({ description: 'Storage use in bytes' }),
  role: Described(Nullable(Role), "Caller's role in the project; null if not a member"),
  created_by: Described(Nullable(Uuid), 'User ID of the creator; null if not created by a user'),
  created_at: Described(Timestamp, 'Creation time'),
  updated_at: Described(Timestamp, 'Time of the last change'),
  archived_at: Described(Nullable(Timestamp), 'Archival time; null if not archived'),
}

export const ProjectRecord = Closed(fields, { $id: 'Project', description: 'A project' })

export function toRecord(project: Project) {
  return {
    id: project.id,
    organization_id: project.organizationId,
    name: project.name,
    description: project.description,
    visibility: project.visibility,
    status: project.archivedAt ? ('archived' as const) : ('active' as const),
    is_archived: project.archivedAt !== null,
    gcs_region: project.region,
    gcs_bucket_name: project.bucketName,
    has_storage_bucket: project.bucketName !== null,
    item_count: project.itemCount,
    storage_bytes: project.storageBytes,
    role: project.role,
    created_by: project.createdBy,
    created_at: project.createdAt.toISOString(),
    updated_at: project.updatedAt.toISOString(),
    archived_at: project.archivedAt?.toISOString() ?? null,
  }
}

const memberFields = {
  project_id: Described(Uuid, 'Project ID'),
  user_id: Described(Nullable(Uuid), 'User ID; null until the invitation is accepted'),
  email: Type.String({ description: 'Email address' }),
  name: Described(Nullable(Type.String()), 'Display name of the member; null until the invitation is accepted'),
  role: Described(Role, 'Role in the project'),
  status: Choice(['active', 'invited'], { description: 'Whether the member has joined or is invited' }),
  created_at: Described(Timestamp, 'Time the member was added or invited'),
  expires_at: Described(Nullable(Timestamp), 'Expiry time of the invitation; null for an active member'),
}

/** A member, or an invitee who has not accepted yet. */
export const MemberRecord = Closed(memberFields, { $id: 'ProjectMember', description: 'A project member or invitee' })

/** An added member; for an invitee, with the invitation link, which no other response contains. */
export const AddedMember = Closed(
  { ...memberFields, invitation: Type.Optional(NewInvitation) },
  { $id: 'AddedProjectMember', description: 'A project member, with the invitation link if they were invited' },
)

export function toMember(projectId: string, member: ProjectMember) {
  return {
    project_id: projectId,
    user_id: member.userId,
    email: member.email,
    name: member.name,
    role: member.role,
    status: 'active' as const,
    created_at: member.createdAt.toISOString(),
    expires_at: null,
  }
}

export function toInvited(projectId: string, invitation: Invitation) {
  return {
    project_id: projectId,
    user_id: null,
    email: invitation.email,
    name: null,
    role: invitation.role ?? 'viewer',
    status: 'invited' as const,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  }
}

export const ProjectWithMembers = Closed(
  { ...fields, members: Type.Array(MemberRecord, { description: 'Members of the project' }) },
  { $id: 'ProjectWithMembers', description: 'A project with its members' },
)

/** For the reference. */
export const EXAMPLE_PROJECT = {
  id: EXAMPLE_IDS.project,
  organization_id: EXAMPLE_IDS.organization,
  name: 'Reef monitoring',
  description: 'Quarterly bleaching survey',
  visibility: 'organization' as const,
  status: 'active' as const,
  is_archived: false,
  gcs_region: 'australia-southeast1' as const,
  gcs_bucket_name: 'svc-0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10',
  has_storage_bucket: true,
  item_count: 0,
  storage_bytes: 0,
  role: 'admin' as const,
  created_by: EXAMPLE_IDS.user,
  created_at: '2026-03-01T09:30:00.000Z',
  updated_at: '2026-03-01T09:30:00.000Z',
  archived_at: null,
}

export const EXAMPLE_MEMBER = {
  project_id: EXAMPLE_PROJECT.id,
  user_id: EXAMPLE_IDS.otherUser,
  email: 'ana@example.com',
  name: 'Ana Pereira',
  role: 'editor' as const,
  status: 'active' as const,
  created_at: '2026-03-02T10:00:00.000Z',
  expires_at: null,
}
