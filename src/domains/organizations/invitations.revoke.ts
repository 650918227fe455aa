import { notFound } from '#core/problem.ts'
import { Closed, Removed, Uuid } from '#core/shapes.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_INVITATION } from '#wire/invitation.ts'

/** Revokes an open invitation: its links stop working. For owners and admins. */
export default operation({
  id: 'organizations.invitations.revoke',
  scope: 'organizations:write',
  tier: 'destructive',
  changesAccess: true,
  input: Closed({ invitation_id: { ...Uuid, description: 'Invitation ID' } }),
  output: Removed,
  example: { input: { invitation_id: EXAMPLE_INVITATION.id }, output: { ok: true, id: EXAMPLE_INVITATION.id } },
}).handle({
  async check({ db, principal, clock }, { invitation_id }) {
    memberships.requireSignedIn(principal)
    const organizationId = organizations.requireOrganization(principal)
    organizations.requireAdmin(principal)
    const invitation = await invitations.findOpen(db, organizationId, invitation_id, clock.now())
    if (!invitation) throw notFound('invitation')
    return { organizationId, id: invitation.id }
  },
  async execute({ tx, clock }, _input, { organizationId, id }) {
    if (!(await invitations.withdrawOne(tx, organizationId, id, clock.now()))) throw notFound('invitation')
    return { ok: true as const, id }
  },
})
