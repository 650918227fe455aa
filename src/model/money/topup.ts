/**
 * Credits for money. The way of a top-up, file by file:
 *
 * 1. `domains/billing/topup.ts` checks who asks. Its `prepare` calls `charge`, its `execute` calls `settle`.
 * 2. `charge`, here, asks for the payment and tells a refusal as a problem.
 * 3. `card-payment.ts` writes the attempt down, and only then asks the card (`payment-attempt.ts` has the rows).
 * 4. `settle`, here, gives the credits by `ledger.ts`, once for each payment.
 *
 * `auto-topup.ts` does the same without a caller. A notice (`payment-notice.ts`) and the sweep (`payment-sweep.ts`) come to
 * `settle` too, when they find a payment out first or the call has died.
 */
import { bonusCredits } from '#core/money.ts'
import { invalidField } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import type { Intent } from '#ports/payments.ts'
import { authenticationRequired, cardDeclined, pay, type Payment } from './card-payment.ts'
import * as ledgers from './ledger.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt } from './payment-attempt.ts'
import type { PaymentContext } from './processor.ts'

interface WantedTopup {
  organizationId: string
  cents: number
  requestKey: string
  userId: string | null
}

/** Exactly one of the two, as a charge in cents. */
export function centsWanted(audCents: number | null | undefined, credits: number | null | undefined): number {
  const given = [audCents, credits].filter((value) => value !== undefined && value !== null)
  if (given.length !== 1) throw invalidField(given.length === 0 ? 'aud_cents' : 'credits', 'Send exactly one of aud_cents and credits')
  return given[0]!
}

/** A cent is a credit; a large sum earns some more. */
export const purchaseOf = (cents: number) => ({ cents, credits: cents, bonusCredits: bonusCredits(cents) })

/** Asks the processor for the money. A refusal is kept and told, then thrown. */
export async function charge(context: PaymentContext, { cents, ...wanted }: WantedTopup): Promise<Payment> {
  const payment = await pay(context, { ...wanted, ...purchaseOf(cents), kind: 'topup', offSession: false })
  const { attempt, intent } = payment
  if (intent.status === 'requires_action') throw authenticationRequired(intent)
  if (intent.status === 'succeeded' || intent.status === 'processing') return payment
  await context.commit(attempt.organizationId, 'billing.topup.refused', (change) => settle(change, attempt.id, intent))
  throw cardDeclined(intent)
}

interface SettledTopup {
  status: Attempt['status']
  /** This call, and no other, brought the attempt to its end. */
  isFirst: boolean
}

/** Brings an attempt to where its intent stands at the processor's. Safe to repeat, in any order, from anywhere. */
export async function settle(change: Change, attemptId: string, intent: Intent): Promise<SettledTopup> {
  const attempt = await attempts.lock(change.tx, attemptId)
  const { status } = attempt
  if (attempt.paymentIntentId !== intent.id) return { status, isFirst: false } // The attempt has gone on to another intent.
  if (intent.status === 'succeeded') return { status: 'succeeded', isFirst: await giveCredits(change, attempt, intent) }
  const hasFailed = intent.status === 'canceled' || (intent.status === 'requires_payment_method' && intent.failure !== null)
  if (!hasFailed || !(await fail(change, attempt, intent.failure ?? 'canceled'))) return { status, isFirst: false }
  return { status: 'failed', isFirst: true }
}

/** False: this payment has its credits already. */
async function giveCredits(change: Change, attempt: Attempt, intent: Intent): Promise<boolean> {
  const { tx, clock, invocationId, events } = change
  const { id, organizationId, cents, credits } = attempt
  if (intent.cents !== cents) throw new Error(`payment ${intent.id} is of ${intent.cents} cents, its attempt of ${cents}`)
  const now = clock.now()
  const after = await ledgers.credit(
    tx,
    {
      organizationId,
      invocationId,
      now,
      reference: { type: 'topup', id },
      description: attempt.kind === 'auto_topup' ? 'Automatic top-up' : 'Top-up',
    },
    [
      { type: 'topup', credits },
      { type: 'bonus', credits: attempt.bonusCredits },
    ],
    intent.id,
  )
  if (!after) return false
  await attempts.move(tx, id, { from: ['created', 'pending', 'failed'], to: 'succeeded', failure: null }, now)
  events.emit('topup.succeeded', id, eventOf(attempt, 'succeeded'))
  events.emit('credits.purchased', organizationId, {
    balance_credits: after.available + after.reserved,
    available_credits: after.available,
    credits,
    bonus_credits: attempt.bonusCredits,
    topup_id: id,
  })
  return true
}

/** Ends an attempt that brought no money, and tells of it. False: it has come to its end before. */
export async function fail({ tx, clock, events }: Change, attempt: Attempt, reason: string): Promise<boolean> {
  const isFirst = await attempts.move(tx, attempt.id, { from: ['created', 'pending'], to: 'failed', failure: reason }, clock.now())
  if (isFirst) events.emit('topup.failed', attempt.id, { ...eventOf(attempt, 'failed'), reason })
  return isFirst
}

function eventOf(attempt: Attempt, status: string): Record<string, unknown> {
  return {
    id: attempt.id,
    status,
    aud_cents: attempt.cents,
    credits: attempt.credits,
    bonus_credits: attempt.bonusCredits,
    automatic: attempt.kind === 'auto_topup',
    created_at: attempt.createdAt.toISOString(),
  }
}
