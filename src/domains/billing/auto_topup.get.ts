import { audOf } from '#core/money.ts'
import { Closed, Described, Nullable, Timestamp } from '#core/shapes.ts'
import * as autoTopups from '#model/money/auto-topup.ts'
import { walletOf } from '#model/money/billing-account.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { Aud, AutoTopupRecord } from './wire.ts'
import { EXAMPLE_AT } from '#wire/examples.ts'

/** The automatic top-up settings and today's charges. */
export default operation({
  id: 'billing.auto_topup.get',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({}),
  output: Closed(
    {
      ...AutoTopupRecord.properties,
      charged_today_aud: Described(Aud, 'Amount charged today (UTC) in Australian dollars'),
      last_attempt_at: Described(Nullable(Timestamp), 'Time of the last charge attempt; null if never attempted'),
    },
    { description: "Automatic top-up settings and today's charges" },
  ),
  example: {
    input: {},
    output: {
      enabled: true,
      threshold_credits: 5_000,
      topup_amount_credits: 20_000,
      daily_charge_cap_aud: 500,
      charged_today_aud: 200,
      last_attempt_at: EXAMPLE_AT,
    },
  },
}).handle({
  check: async ({ principal }) => organizations.requireOrganization(principal),
  async execute({ db, clock }, _input, organizationId) {
    const wallet = await walletOf(db, organizationId)
    return {
      enabled: wallet.autoEnabled,
      threshold_credits: wallet.autoThresholdCredits,
      topup_amount_credits: wallet.autoAmountCredits,
      daily_charge_cap_aud: wallet.autoDailyCapCents === null ? null : audOf(wallet.autoDailyCapCents),
      charged_today_aud: audOf(await autoTopups.chargedToday(db, organizationId, clock.now())),
      last_attempt_at: wallet.autoAttemptedAt?.toISOString() ?? null,
    }
  },
})
