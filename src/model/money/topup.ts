/** Credits for money: asks for a payment by card, and hands what came of it on. */
import { bonusCredits } from '#core/money.ts'
import { problem } from '#core/problem.ts'
import type { PaymentContext } from './processor.ts'
import { authenticationRequired, cardDeclined, pay, type Payment } from './card-payment.ts'
import { settle } from './payment-outcome.ts'

export interface WantedTopup {
  organizationId: string
  cents: number
  requestKey: string
  userId: string | null
}

/** Asks the processor for the money. A refusal is kept and told, then thrown. */
export async function charge(context: PaymentContext, { cents, ...wanted }: WantedTopup): Promise<Payment> {
  const payment = await pay(context, {
    ...wanted,
    cents,
    kind: 'topup',
    credits: cents,
    bonusCredits: bonusCredits(cents),
    offSession: false,
  })
  const { attempt, intent } = payment
  if (intent.status === 'requires_action') throw authenticationRequired(intent)
  if (intent.status === 'succeeded' || intent.status === 'processing') return payment
  await context.commit(attempt.org_id, 'billing.topup.refused', (change) => settle(change, attempt.id, intent))
  throw cardDeclined(intent)
}

/** Exactly one of the two, as a charge in cents. */
export function centsWanted({
  aud_cents,
  credits,
}: {
  aud_cents?: number | null | undefined
  credits?: number | null | undefined
}): number {
  const given = [aud_cents, credits].filter((value) => value !== undefined && value !== null)
  if (given.length !== 1)
    throw problem('invalid-input', 'Send exactly one of aud_cents and credits', {
      members: {
        errors: [{ field: given.length === 0 ? 'aud_cents' : 'credits', message: 'exactly one of aud_cents and credits is needed' }],
      },
    })
  return given[0]!
}
