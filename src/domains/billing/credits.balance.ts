import Type from 'typebox'
import { audOf, CURRENCY } from '#core/money.ts'
import { Closed, Described } from '#core/shapes.ts'
import { walletOf } from '#model/money/billing-account.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { Aud, Credits, Currency } from './wire.ts'

/** The wallet: all credits, those reserved for orders and jobs in progress, and those available. */
export default operation({
  id: 'billing.credits.balance',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({}),
  output: Closed(
    {
      balance_credits: Described(Credits, 'Wallet balance in credits, including reserved credits'),
      reserved_credits: Described(Credits, 'Credits reserved for orders and jobs in progress'),
      available_credits: Described(Credits, 'Credits available to spend'),
      currency: Described(Currency, 'Currency as an ISO 4217 code'),
      balance_aud: Described(Aud, 'Wallet balance in Australian dollars'),
      auto_topup_enabled: Type.Boolean({ description: 'Whether automatic top-up is on' }),
    },
    { description: 'Credit balance of the organization' },
  ),
  example: {
    input: {},
    output: {
      balance_credits: 50_000,
      reserved_credits: 1_200,
      available_credits: 48_800,
      currency: 'AUD',
      balance_aud: 500,
      auto_topup_enabled: false,
    },
  },
}).handle({
  check: async ({ principal }) => organizations.requireOrganization(principal),
  async execute({ db }, _input, organizationId) {
    const { available, reserved, autoEnabled } = await walletOf(db, organizationId)
    const balance = available + reserved
    return {
      balance_credits: balance,
      reserved_credits: reserved,
      available_credits: available,
      currency: CURRENCY,
      balance_aud: audOf(balance),
      auto_topup_enabled: autoEnabled,
    }
  },
})
