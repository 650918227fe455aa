import { accessDenied, notFound, problem } from '#core/problem.ts'
import { Closed, Uuid } from '#core/shapes.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import * as secondFactors from '#model/identity/second-factor.ts'
import * as sessions from '#model/identity/session.ts'
import { accountNoticeTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, MemberRecord, toMember } from './wire.ts'

/**
 * Removes the second factors of a member who has lost them, and ends the member's sessions. An account that other organizations rely on,
 * too, or that has a role of the operator, can only be reset by the operator.
 */
export default operation({
  id: 'organizations.members.reset_two_factors',
  scope: 'organizations:write',
  tier: 'destructive',
  changesAccess: true,
  input: Closed({ user_id: { ...Uuid, description: 'User ID of the member' } }),
  output: MemberRecord,
  example: { input: { user_id: EXAMPLE_MEMBER.user_id }, output: { ...EXAMPLE_MEMBER, has_two_factors: false } },
}).handle({
  async check({ db, principal }, { user_id }) {
    memberships.requireSignedIn(principal)
    const organizationId = organizations.requireOrganization(principal)
    organizations.requireAdmin(principal)
    const member = await organizations.findMember(db, organizationId, user_id)
    if (!member) throw notFound('member')
    memberships.requireMayChange(principal, member.role, null)
    if (member.userId === principal.userId)
      throw problem('bad-request', 'Change your own second factors in the settings of your account; a recovery code replaces a lost one')
    const user = (await users.find(db, member.userId))!
    if (user.isSystemAdmin || user.isClipUser || (await users.organizations(db, user.id)).length > 1)
      throw problem(
        'bad-request',
        "The account also has access outside this organization; ask the operator, who uses 'npm run user -- --reset-two-factors'",
      )
    return { organizationId, user }
  },
  async execute({ tx, clock, tasks }, _input, { organizationId, user }) {
    await memberships.lock(tx, organizationId)
    const member = await organizations.findMember(tx, organizationId, user.id)
    if (!member) throw accessDenied()
    if (await secondFactors.removeAll(tx, user.id)) {
      await sessions.endAllOfUser(tx, user.id, clock.now())
      await tasks.enqueue(accountNoticeTask, { email: user.email, name: user.name, notice: 'two_factors_reset', detail: null })
    }
    return toMember({ ...member, hasTwoFactors: false })
  },
})
