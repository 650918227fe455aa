import Type from 'typebox'
import { Choice, Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { INVITED_ROLES, PROJECT_ROLES } from '#core/vocabulary.ts'
import type { Invitation } from '#model/identity/invitation.ts'
import { EXAMPLE_IDS } from './examples.ts'

const fields = {
  id: Type.String({ format: 'uuid', description: 'Names the invitation when it is revoked.' }),
  email: Type.String({ description: 'Whom it is meant for.' }),
  role: Choice([...INVITED_ROLES, ...PROJECT_ROLES.filter((role) => role !== 'admin')], {
    description: 'What the person becomes: of the project where one is named, else of the organization.',
  }),
  project_id: Nullable(Type.String({ format: 'uuid', description: 'The project that it opens too; null for the organization alone.' })),
  expires_at: Type.String({ format: 'date-time', description: 'The link is worth nothing after this.' }),
}

/** An open invitation, without its link. */
export const InvitationRecord = Closed(
  {
    ...fields,
    organization_role: Choice(INVITED_ROLES, { description: 'What the person becomes in the organization.' }),
    invited_by: Nullable(Uuid),
    created_at: Timestamp,
  },
  { $id: 'Invitation' },
)

/** The answer to whoever invites: the link is in it, and nowhere else, ever. */
export const NewInvitation = Closed(
  { ...fields, url: Type.String({ description: 'The link to hand over. It works once, for whoever is signed in when they use it.' }) },
  { $id: 'NewInvitation' },
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
