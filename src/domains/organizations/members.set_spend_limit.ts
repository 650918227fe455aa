import Type from 'typebox'
import { CreditsInput } from '#core/money-shapes.ts'
import { notFound } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, EXAMPLE_ORGANIZATION, MemberRecord, toMember } from './wire.ts'

/** Omitting a limit clears it, like null; the OpenAPI document requires both, so that clients do not clear one by accident. */
const SpendLimit = Type.Optional(Nullable(CreditsInput(0)))

/** Sets or clears a member's spend limits: per order, and over any 30 days. */
export default operation({
  id: 'organizations.members.set_spend_limit',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed(
    {
      organizationId: Type.String({ description: 'Organization ID' }),
      userId: Type.String({ description: 'User ID of the member' }),
      perOrderLimitCredits: Described(SpendLimit, 'Maximum credits per order; null for no limit'),
      spendLimitCredits: Described(SpendLimit, 'Maximum credits in any 30 days; null for no limit'),
    },
    { 'x-documented-required': ['perOrderLimitCredits', 'spendLimitCredits'] },
  ),
  output: MemberRecord,
  example: {
    input: {
      organizationId: EXAMPLE_ORGANIZATION.id,
      userId: EXAMPLE_MEMBER.user_id,
      perOrderLimitCredits: 20_000,
      spendLimitCredits: null,
    },
    output: EXAMPLE_MEMBER,
  },
}).handle({
  async check({ db, principal }, { organizationId, userId }) {
    memberships.requireSignedIn(principal)
    const own = organizations.requireNamedOrganization(principal, organizationId)
    organizations.requireAdmin(principal)
    const member = await organizations.findMember(db, own, userId)
    if (!member) throw notFound('member')
    return { organizationId: own, member }
  },
  async execute({ tx }, { perOrderLimitCredits = null, spendLimitCredits = null }, { organizationId, member }) {
    const limits = { perOrder: perOrderLimitCredits, rolling: spendLimitCredits }
    if (!(await organizations.setSpendLimits(tx, organizationId, member.userId, limits))) throw notFound('member')
    return toMember({ ...member, perOrderLimitCredits, spendLimitCredits })
  },
})
