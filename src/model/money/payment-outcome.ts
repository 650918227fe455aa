/** What becomes of a payment: one that succeeded becomes credits exactly once, whoever finds out about it first. */
import type { Change } from '#effects.ts'
import type { Intent } from '#ports/payments.ts'
import * as ledger from './ledger.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt } from './payment-attempt.ts'

export interface Settled {
  attempt: Attempt
  /** This call, and no other, brought the attempt to its end. */
  isFirst: boolean
}

/** Brings an attempt to where its intent stands at the processor's. Safe to repeat, in any order, from anywhere. */
export async function settle(change: Change, attemptId: string, intent: Intent): Promise<Settled> {
  const { tx, clock } = change
  const attempt = await attempts.lock(tx, attemptId)
  if (attempt.payment_intent_id !== intent.id) return { attempt, isFirst: false } // The attempt has gone on to another intent.
  if (intent.status === 'succeeded')
    return { attempt: { ...attempt, status: 'succeeded' }, isFirst: await creditPurchase(change, attempt, intent) }
  const hasFailed = intent.status === 'canceled' || (intent.status === 'requires_payment_method' && intent.failure !== null)
  if (
    !hasFailed ||
    !(await attempts.move(
      tx,
      attempt.id,
      { from: ['created', 'pending'], to: 'failed', failure: intent.failure ?? 'canceled' },
      clock.now(),
    ))
  )
    return { attempt, isFirst: false }
  fail(change, attempt, intent.failure ?? 'canceled')
  return { attempt: { ...attempt, status: 'failed', failure: intent.failure }, isFirst: true }
}

async function creditPurchase(change: Change, attempt: Attempt, intent: Intent): Promise<boolean> {
  const { tx, clock, invocationId, events } = change
  if (intent.cents !== attempt.aud_cents)
    throw new Error(`payment ${intent.id} is of ${intent.cents} cents, its attempt of ${attempt.aud_cents}`)
  const cause = {
    organizationId: attempt.org_id,
    invocationId,
    now: clock.now(),
    reference: { type: 'topup', id: attempt.id },
    description: attempt.kind === 'auto_topup' ? 'Automatic top-up' : 'Top-up',
  }
  const after = await ledger.credit(
    tx,
    cause,
    [
      { type: 'topup', credits: attempt.credits },
      { type: 'bonus', credits: attempt.bonus_credits },
    ],
    intent.id,
  )
  if (!after) return false
  await attempts.move(tx, attempt.id, { from: ['created', 'pending', 'failed'], to: 'succeeded', failure: null }, clock.now())
  events.emit('topup.succeeded', attempt.id, eventOf(attempt, 'succeeded'))
  events.emit('credits.purchased', attempt.org_id, {
    balance_credits: after.available + after.reserved,
    available_credits: after.available,
    credits: attempt.credits,
    bonus_credits: attempt.bonus_credits,
    topup_id: attempt.id,
  })
  return true
}

export function fail({ events }: Pick<Change, 'events'>, attempt: Attempt, reason: string): void {
  events.emit('topup.failed', attempt.id, { ...eventOf(attempt, 'failed'), reason })
}

function eventOf(attempt: Attempt, status: string): Record<string, unknown> {
  return {
    id: attempt.id,
    status,
    aud_cents: attempt.aud_cents,
    credits: attempt.credits,
    bonus_credits: attempt.bonus_credits,
    automatic: attempt.kind === 'auto_topup',
    created_at: attempt.created_at.toISOString(),
  }
}
