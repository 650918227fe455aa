import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as rule from '#model/identity/two-factor-rule.ts'
import { operation } from '#operation.ts'

export const TwoFactorRule = Closed(
  {
    is_required: Type.Boolean({ description: 'Whether members must have two-factor sign-in' }),
    members: Type.Integer({ description: 'Number of members' }),
    members_without: Type.Integer({ description: 'Number of members without two-factor sign-in' }),
  },
  { $id: 'TwoFactorRule', description: 'The rule of the organization, and how many members do not meet it' },
)

/** Whether the organization requires two factors, and how many members have one only. */
export default operation({
  id: 'organizations.two_factors.get',
  scope: 'organizations:read',
  tier: 'read',
  input: Closed({}),
  output: TwoFactorRule,
  example: { input: {}, output: { is_required: false, members: 12, members_without: 3 } },
}).handle({
  async check({ principal }) {
    const organizationId = organizations.requireOrganization(principal)
    organizations.requireAdmin(principal)
    return organizationId
  },
  async execute({ db }, _input, organizationId) {
    return await rule.get(db, organizationId)
  },
})
