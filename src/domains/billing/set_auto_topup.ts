import Type from 'typebox'
import { CreditsInput, DollarsInput } from '#core/money-shapes.ts'
import { centsOf } from '#core/money.ts'
import { problem } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as autoTopups from '#model/money/auto-topup.ts'
import { hasDefaultCard, lockWallet, requireBillingAdmin } from '#model/money/billing-account.ts'
import { requirePayments } from '#model/money/processor.ts'
import { autoTopupTask } from '#model/money/tasks.ts'
import { operation } from '#operation.ts'
import { AutoTopupRecord, TopupAmount } from './wire.ts'

/** Sets when the default card is charged automatically, for how much, and the maximum per day (UTC). */
export default operation({
  id: 'billing.set_auto_topup',
  scope: 'billing:write',
  tier: 'compute',
  input: Closed({
    enabled: Type.Boolean({ description: 'Whether to top up automatically' }),
    threshold_credits: Described(CreditsInput(1), 'Balance in credits below which the card is charged'),
    topup_amount_credits: Described(TopupAmount, 'Credits bought per top-up'),
    daily_charge_cap_aud: Described(Type.Optional(Nullable(DollarsInput())), 'Maximum charged per day (UTC) in Australian dollars'),
  }),
  output: AutoTopupRecord,
  example: {
    input: { enabled: true, threshold_credits: 5_000, topup_amount_credits: 20_000, daily_charge_cap_aud: 500 },
    output: { enabled: true, threshold_credits: 5_000, topup_amount_credits: 20_000, daily_charge_cap_aud: 500 },
  },
}).handle({
  async check({ db, principal, payments }, { enabled, daily_charge_cap_aud = null }) {
    const dailyCapCents = daily_charge_cap_aud === null ? null : centsOf(daily_charge_cap_aud)
    const organizationId = await requireBillingAdmin(db, principal)
    if (enabled) requirePayments({ payments })
    return { organizationId, dailyCapCents }
  },
  async execute(
    { tx, tasks },
    { enabled, threshold_credits, topup_amount_credits, daily_charge_cap_aud = null },
    { organizationId, dailyCapCents },
  ) {
    const { available } = await lockWallet(tx, organizationId)
    if (enabled && !(await hasDefaultCard(tx, organizationId)))
      throw problem('payment-method-required', 'Automatic top-up requires a default card; add one with payment_methods.attach')
    await autoTopups.set(tx, organizationId, {
      autoEnabled: enabled,
      autoThresholdCredits: threshold_credits,
      autoAmountCredits: topup_amount_credits,
      autoDailyCapCents: dailyCapCents,
    })
    if (enabled && available < threshold_credits) await tasks.enqueue(autoTopupTask, { organization_id: organizationId })
    return { enabled, threshold_credits, topup_amount_credits, daily_charge_cap_aud }
  },
})
