import Type from 'typebox'
import { Choice, Closed, Described, Uuid } from '#core/shapes.ts'
import { problem } from '#core/problem.ts'
import { hasDefaultCard, requireBillingAdmin, walletOf } from '#model/money/billing-account.ts'
import { requirePayments } from '#model/money/processor.ts'
import * as topups from '#model/money/topup.ts'
import { operation } from '#operation.ts'
import { Credits, TopupAmount } from './wire.ts'

/** Charges the default card and grants credits exactly once per payment, regardless of retries and repeated webhooks. */
export default operation({
  id: 'billing.topup',
  scope: 'billing:write',
  tier: 'external_spend',
  idempotent: true,
  events: ['topup.succeeded', 'credits.purchased', 'topup.failed'],
  input: Closed({
    aud_cents: Described(Type.Optional(TopupAmount), 'Amount to pay in Australian cents, at least 10,000'),
    credits: Described(Type.Optional(TopupAmount), 'Number of credits to buy; 100 credits cost A$1'),
  }),
  output: Closed(
    {
      topup_attempt_id: Described(Uuid, 'Top-up attempt ID'),
      payment_intent_id: Type.String({ description: 'Payment ID at the payment processor' }),
      status: Choice(['succeeded', 'processing', 'failed'], { description: 'Payment status' }),
      credits_granted: Described(Credits, 'Credits added, including the bonus'),
      new_balance: Described(Credits, 'Available credits after the top-up'),
      bonus_credits: Described(Credits, 'Bonus credits for a large top-up'),
    },
    { description: 'Result of the payment' },
  ),
  example: {
    input: { aud_cents: 2_500_000 },
    output: {
      topup_attempt_id: '0199f2d0-ffff-7000-8000-000000000001',
      payment_intent_id: 'pi_3f2e1d0c',
      status: 'succeeded',
      credits_granted: 2_500_000,
      new_balance: 2_625_000,
      bonus_credits: 125_000,
    },
  },
}).handle({
  permit: ({ db, principal }) => requireBillingAdmin(db, principal),
  async check({ db, payments }, { aud_cents, credits }, organizationId) {
    const cents = topups.chargeCents(aud_cents, credits)
    requirePayments({ payments })
    if (!(await hasDefaultCard(db, organizationId)))
      throw problem('payment-method-required', 'The organization has no default card; add one with payment_methods.attach')
    return { organizationId, cents }
  },
  async prepare(context, _input, { organizationId, cents }) {
    return await topups.charge(context, { organizationId, cents, requestKey: context.idempotencyKey, userId: context.principal.userId })
  },
  async execute(context, _input, { organizationId }, { attempt, intent }) {
    const { status } = await topups.settle(context, attempt.id, intent)
    const isPaid = status === 'succeeded'
    const { available, reserved } = await walletOf(context.tx, organizationId)
    return {
      topup_attempt_id: attempt.id,
      payment_intent_id: intent.id,
      status: isPaid ? ('succeeded' as const) : ('processing' as const),
      credits_granted: isPaid ? attempt.credits : 0,
      new_balance: available + reserved,
      bonus_credits: isPaid ? attempt.bonusCredits : 0,
    }
  },
})
