/**
 * Buying credits. The path of a top-up, file by file:
 *
 * 1. `domains/billing/topup.ts` checks the caller. Its `prepare` calls `charge`, its `execute` calls `settle`.
 * 2. `charge`, here, requests the payment and turns a failure into a problem.
 * 3. `card-payment.ts` stores the attempt and only then calls the processor (`payment-attempt.ts` has the rows).
 * 4. `settle`, here, adds the credits through `ledger.ts`, once per payment.
 *
 * `auto-topup.ts` does the same without a caller. Notices (`payment-notice.ts`) and the sweep (`payment-sweep.ts`) also call `settle`, in
 * case they see a payment first or the call crashed.
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

interface TopupRequest {
  organizationId: string
  cents: number
  requestKey: string
  userId: string | null
}

/** Converts exactly one of the two to a charge in cents. */
export function chargeCents(audCents: number | null | undefined, credits: number | null | undefined): number {
  const given = [audCents, credits].filter((value) => value !== undefined && value !== null)
  if (given.length !== 1) throw invalidField(given.length === 0 ? 'aud_cents' : 'credits', 'Send exactly one of aud_cents and credits')
  return given[0]!
}

/** One cent buys one credit; large amounts earn bonus credits. */
export const purchaseOf = (cents: number) => ({ cents, credits: cents, bonusCredits: bonusCredits(cents) })

/** Charges the card. A failure is recorded and reported, then thrown. */
export async function charge(context: PaymentContext, { cents, ...request }: TopupRequest): Promise<Payment> {
  const payment = await pay(context, { ...request, ...purchaseOf(cents), kind: 'topup', offSession: false })
  const { attempt, intent } = payment
  if (intent.status === 'requires_action') throw authenticationRequired(intent)
  if (intent.status === 'succeeded' || intent.status === 'processing') return payment
  await context.commit(attempt.organizationId, 'billing.topup.refused', (change) => settle(change, attempt.id, intent))
  throw cardDeclined(intent)
}

interface SettledTopup {
  status: Attempt['status']
  /** True if this call brought the attempt to its end. */
  isFirst: boolean
}

/** Brings an attempt to its intent's state at the processor. Idempotent and independent of order. */
export async function settle(change: Change, attemptId: string, intent: Intent): Promise<SettledTopup> {
  const attempt = await attempts.lock(change.tx, attemptId)
  const { status } = attempt
  if (attempt.paymentIntentId !== intent.id) return { status, isFirst: false } // The attempt has another intent now.
  if (intent.status === 'succeeded') return { status: 'succeeded', isFirst: await giveCredits(change, attempt, intent) }
  const hasFailed = intent.status === 'canceled' || (intent.status === 'requires_payment_method' && intent.failure !== null)
  if (!hasFailed || !(await fail(change, attempt, intent.failure ?? 'canceled'))) return { status, isFirst: false }
  return { status: 'failed', isFirst: true }
}

/** Returns false if this payment was already credited. */
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

/** Ends an attempt without payment and emits its event. Returns false if it had already ended. */
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
