import type { Principal } from '#core/principal.ts'
import { notFound } from '#core/problem.ts'
import { Closed, Removed, Uuid } from '#core/shapes.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER } from './wire.ts'

/**
 * Removes a member with their project roles, API keys and sessions for the organization. What they created stays. Members
 * can remove themselves; the last owner cannot be removed.
 */
export default operation({
  id: 'organizations.members.remove',
  scope: 'organizations:write',
  tier: 'destructive',
  changesAccess: true,
  input: Closed({ user_id: { ...Uuid, description: 'User ID of the member to remove' } }),
  output: Removed,
  example: { input: { user_id: EXAMPLE_MEMBER.user_id }, output: { ok: true, id: EXAMPLE_MEMBER.user_id } },
}).handle({
  async check({ db, principal }, { user_id }) {
    memberships.requireSignedIn(principal)
    const organizationId = organizations.requireOrganization(principal)
    if (!isSelf(principal, user_id)) organizations.requireAdmin(principal)
    const member = await organizations.findMember(db, organizationId, user_id)
    if (!member) throw notFound('member')
    requireMayRemove(principal, member)
    return organizationId
  },
  async execute({ tx, principal, clock }, { user_id }, organizationId) {
    await memberships.lock(tx, organizationId)
    const member = await organizations.findMember(tx, organizationId, user_id)
    if (!member) throw notFound('member')
    requireMayRemove(principal, member)
    await memberships.end(tx, organizationId, member.userId, clock.now())
    await memberships.keepAnOwner(tx, organizationId)
    return { ok: true as const, id: member.userId }
  },
})

function isSelf(principal: Principal, userId: string): boolean {
  return principal.kind === 'user' && principal.userId === userId.toLowerCase()
}

function requireMayRemove(principal: Principal, member: organizations.Member): void {
  if (!isSelf(principal, member.userId)) memberships.requireMayChange(principal, member.role, null)
}
