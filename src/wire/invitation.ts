import Type from 'typebox'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { INVITED_ROLES, PROJECT_ROLES } from '#core/vocabulary.ts'
import type { Invitation } from '#model/identity/invitation.ts'
import { EXAMPLE_IDS } from './examples.ts'

const fields = {
  id: Type.String({ format: 'uuid', description: 'Invitation ID' }),
  email: Type.String({ description: 'Email address of the invitee' }),
  role: Choice([...INVITED_ROLES, ...PROJECT_ROLES.filter((role) => role !== 'admin')], {
    description: 'Role in the project, or in the organization without a project',
  }),
  project_id: Nullable(
    Type.String({ format: 'uuid', description: 'ID of the project the invitation is for; null for the organization only' }),
  ),
  expires_at: Type.String({ format: 'date-time', description: 'Expiry time of the invitation' }),
}

/** An open invitation, without its link. */
export const InvitationRecord = Closed(
  {
    ...fields,
    organization_role: Choice(INVITED_ROLES, { description: 'Role in the organization after joining' }),
    invited_by: Described(Nullable(Uuid), 'User ID of the inviter; null if not invited by a user'),
    created_at: Described(Timestamp, 'Creation time'),
  },
  { $id: 'Invitation', description: 'An open invitation' },
)

/** The response to the inviter: the only place where the link is ever shown. */
export const NewInvitation = Closed(
  { ...fields, url: Type.String({ description: 'Invitation link; usable once, by any signed-in user' }) },
  { $id: 'NewInvitation', description: 'A new invitation, with its link' },
)

function common(invitation: Invitation) {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role ?? invitation.organizationRole,
    project_id: invitation.projectId,
    expires_at: invitation.expiresAt.toISOString(),
  }
}

export function toInvitation(invitation: Invitation) {
  return {
    ...common(invitation),
    organization_role: invitation.organizationRole,
    invited_by: invitation.invitedBy,
    created_at: invitation.createdAt.toISOString(),
  }
}

export function toNewInvitation({ invitation, token }: { invitation: Invitation; token: string }, baseUrl: string) {
  return { ...common(invitation), url: `${baseUrl}/invite/${token}` }
}

/** For the reference. */
export const EXAMPLE_INVITATION = {
  id: '0199f2c4-8888-7abc-8def-0123456789ab',
  email: 'ana@example.com',
  role: 'member' as const,
  project_id: null,
  expires_at: '2026-03-15T09:30:00.000Z',
  organization_role: 'member' as const,
  invited_by: EXAMPLE_IDS.user,
  created_at: '2026-03-01T09:30:00.000Z',
}

export const EXAMPLE_NEW_INVITATION = {
  id: EXAMPLE_INVITATION.id,
  email: EXAMPLE_INVITATION.email,
  role: EXAMPLE_INVITATION.role,
  project_id: null,
  expires_at: EXAMPLE_INVITATION.expires_at,
  url: 'https://imagery.example/invite/inv_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE',
}
