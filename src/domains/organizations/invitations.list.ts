import Type from 'typebox'
import { Closed, Limit, Offset } from '#core/shapes.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_INVITATION, InvitationRecord, toInvitation } from '#wire/invitation.ts'

/** Lists open invitations to the organization and its projects, newest first, without their links; for owners and admins. */
export default operation({
  id: 'organizations.invitations.list',
  scope: 'organizations:read',
  tier: 'read',
  input: Closed({
    limit: Limit(50, 200),
    offset: Offset,
  }),
  output: Closed({
    invitations: Type.Array(InvitationRecord, { description: 'Open invitations' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: {}, output: { invitations: [EXAMPLE_INVITATION], total: 1 } },
}).handle({
  async check({ principal }) {
    const organizationId = organizations.requireOrganization(principal)
    organizations.requireAdmin(principal)
    return organizationId
  },
  async execute({ db, clock }, window, organizationId) {
    const now = clock.now()
    const open = await invitations.listOfOrganization(db, organizationId, window, now)
    return { invitations: open.map(toInvitation), total: await invitations.countOfOrganization(db, organizationId, now) }
  },
})
