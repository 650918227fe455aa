import { notFound } from '#core/problem.ts'
import { Choice, Closed, Uuid } from '#core/shapes.ts'
import { ORGANIZATION_ROLES } from '#core/vocabulary.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, MemberRecord, toMember } from './wire.ts'

/** Changes a member's role. Only owners can appoint or demote owners, and the last owner stays. */
export default operation({
  id: 'organizations.members.set_role',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    user_id: { ...Uuid, description: 'User ID of the member' },
    role: Choice(ORGANIZATION_ROLES, { description: 'New role in the organization' }),
  }),
  output: MemberRecord,
  example: { input: { user_id: EXAMPLE_MEMBER.user_id, role: 'member' }, output: EXAMPLE_MEMBER },
}).handle({
  async check({ db, principal }, { user_id, role }) {
    memberships.requireSignedIn(principal)
    const organizationId = organizations.requireOrganization(principal)
    organizations.requireAdmin(principal)
    const member = await organizations.findMember(db, organizationId, user_id)
    if (!member) throw notFound('member')
    memberships.requireMayChange(principal, member.role, role)
    return organizationId
  },
  async execute({ tx, principal, clock }, { user_id, role }, organizationId) {
    await memberships.lock(tx, organizationId)
    const member = await organizations.findMember(tx, organizationId, user_id)
    if (!member) throw notFound('member')
    memberships.requireMayChange(principal, member.role, role)
    await memberships.setRole(tx, organizationId, member.userId, role, clock.now())
    return toMember({ ...member, role })
  },
})
