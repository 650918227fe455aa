import Type from 'typebox'
import { accessDenied, problem } from '#core/problem.ts'
import { requireSignedIn } from '#core/principal.ts'
import { Closed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as secondFactors from '#model/identity/second-factor.ts'
import * as rule from '#model/identity/two-factor-rule.ts'
import { operation } from '#operation.ts'
import { TwoFactorRule } from './two_factors.get.ts'

/** Requires two-factor sign-in of all members, or lifts the rule. Only an owner who has two factors can require them. */
export default operation({
  id: 'organizations.two_factors.set',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({ is_required: Type.Boolean({ description: 'Whether members must have two-factor sign-in' }) }),
  output: TwoFactorRule,
  example: { input: { is_required: true }, output: { is_required: true, members: 12, members_without: 3 } },
}).handle({
  async check({ db, principal }, { is_required }) {
    requireSignedIn(principal, 'change how members sign in')
    const organizationId = organizations.requireOrganization(principal)
    if (principal.organizationRole !== 'owner') throw accessDenied()
    if (is_required && !secondFactors.isOn(await secondFactors.standingOf(db, principal.userId!)))
      throw problem('bad-request', 'Set up two-factor sign-in for your own account first; you would lose access otherwise')
    return organizationId
  },
  async execute({ tx, clock }, { is_required }, organizationId) {
    await rule.set(tx, organizationId, is_required, clock.now())
    return await rule.get(tx, organizationId)
  },
})
