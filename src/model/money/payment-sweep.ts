/** What follows from the processor's side, sooner or later: notices that come in any order, attempts that were left half-way, holds to take or free. */
import { DAY_MS } from '#core/time.ts'
import { PaymentsError, type Intent, type Notice, type Payments } from '#ports/payments.ts'
import type { Db } from '#db/tables.ts'
import type { Change } from '#effects.ts'
import { type PaymentContext, requirePayments } from './processor.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt } from './payment-attempt.ts'
import * as reservations from './reservation.ts'
import type { Reservation } from './reservation.ts'
import { settle } from './payment-outcome.ts'

/** A request is answered long before this; what is older was left behind. */
export const STALE_MS = 5 * 60_000
/** How long a person may take to pass 3-D Secure. */
const AUTHENTICATION_MS = DAY_MS
const SWEEP_LIMIT = 200

/**
 * A notice only says where to look: the intent is read from the processor as it stands now. So notices may come twice, late,
 * in any order, or before our own commit, and the outcome is one.
 */
export async function receive(context: PaymentContext, notice: Notice): Promise<void> {
  const payments = requirePayments(context)
  const attempt = notice.paymentIntentId ? await attempts.findByIntent(context.db, notice.paymentIntentId) : null
  if (!attempt) return // Not of a payment that began here.
  const intent = await payments.getIntent(notice.paymentIntentId!)
  await context.commit(attempt.org_id, 'billing.payment_notice', async (change) => {
    const { tx, clock } = change
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('processor_event')
      .values({ id: notice.id, type: notice.type, payment_intent_id: notice.paymentIntentId, received_at: clock.now() })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows === 0n) return
    if (attempt.kind !== 'hold') await settle(change, attempt.id, intent)
    else if (intent.status === 'canceled' && attempt.reservation_id) await loseHold(change, attempt)
  })
}

/** The bank or the processor let a hold go that something still depends on: its reservation ends, with the reason. */
async function loseHold({ tx, clock }: Change, attempt: Attempt): Promise<void> {
  if (!(await attempts.move(tx, attempt.id, { from: ['held'], to: 'voided', failure: 'hold_lost' }, clock.now()))) return
  await reservations.move(
    tx,
    attempt.reservation_id!,
    { from: ['live', 'capturing', 'releasing'], to: 'released', capturedCredits: 0, failure: 'hold_lost' },
    clock.now(),
  )
}

export interface Swept {
  seen: number
  settled: number
}

/** Brings every attempt that nobody works on any more to its end. */
export async function sweepAttempts(context: PaymentContext, limit = SWEEP_LIMIT): Promise<Swept> {
  const payments = requirePayments(context)
  const now = context.clock.now()
  const left = await attempts.stale(context.db, new Date(now.getTime() - STALE_MS), limit)
  let settled = 0
  for (const attempt of left) {
    if (await tolerant(() => sweepOne(context, payments, attempt, now))) settled++
    else await attempts.touch(context.db, attempt.id, now)
  }
  return { seen: left.length, settled }
}

/** What the processor does not answer today is asked again next time; it keeps nothing else waiting. */
export async function tolerant(work: () => Promise<boolean>): Promise<boolean> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PaymentsError) return false
    throw error
  }
}

async function sweepOne(context: PaymentContext, payments: Payments, attempt: Attempt, now: Date): Promise<boolean> {
  if (!attempt.payment_intent_id)
    return await attempts.move(context.db, attempt.id, { from: ['created'], to: 'failed', failure: 'abandoned' }, now)
  const found = await payments.getIntent(attempt.payment_intent_id)
  const waits =
    found.status === 'processing' ||
    (found.status === 'requires_action' && now.getTime() - attempt.created_at.getTime() < AUTHENTICATION_MS)
  if (waits) return false
  const intent = found.status === 'succeeded' || found.status === 'canceled' ? found : await cancelled(payments, found)
  if (intent.status !== 'succeeded' && intent.status !== 'canceled') return false
  if (attempt.kind === 'hold')
    return await attempts.move(context.db, attempt.id, { from: ['pending', 'authorized'], to: 'voided', failure: 'abandoned' }, now)
  return (await context.commit(attempt.org_id, 'billing.sweep_payments', (change) => settle(change, attempt.id, intent))).isFirst
}

/** Whoever confirms in the same moment wins; then the intent is looked at again next time. */
async function cancelled(payments: Payments, intent: Intent): Promise<Intent> {
  try {
    return await payments.cancelIntent(intent.id, `${intent.id}:cancel`)
  } catch (error) {
    if (error instanceof PaymentsError && error.code === 'refused') return await payments.getIntent(intent.id)
    throw error
  }
}

/** Does at the processor's what was decided about a card reservation: takes what is owed, or frees the hold. */
export async function settleCard(context: PaymentContext, reservation: Reservation): Promise<boolean> {
  const payments = requirePayments(context)
  const attempt = await attempts.findHold(context.db, reservation.id)
  if (!attempt || (reservation.state !== 'capturing' && reservation.state !== 'releasing')) return false
  const takes = reservation.state === 'capturing'
  const before = await payments.getIntent(attempt.payment_intent_id!)
  const intent =
    before.status !== 'requires_capture'
      ? before
      : takes
        ? await payments.captureIntent(before.id, reservation.captured_credits, `${reservation.id}:capture`)
        : await cancelled(payments, before)
  const isDone = intent.status === (takes ? 'succeeded' : 'canceled')
  return await context.commit(reservation.org_id, 'billing.settle_reservation', async (change) => {
    const now = change.clock.now()
    if (isDone && takes) {
      await attempts.move(change.tx, attempt.id, { from: ['held'], to: 'captured', capturedCents: reservation.captured_credits }, now)
      return await reservations.move(
        change.tx,
        reservation.id,
        { from: ['capturing'], to: 'captured', capturedCredits: reservation.captured_credits },
        now,
      )
    }
    if (isDone) {
      await attempts.move(change.tx, attempt.id, { from: ['held'], to: 'voided' }, now)
      return await reservations.move(change.tx, reservation.id, { from: ['releasing'], to: 'released' }, now)
    }
    if (intent.status === 'canceled') await loseHold(change, attempt)
    return false
  })
}

const NOTICES_KEPT_DAYS = 30

/** The processor repeats a notice for a few days at most. */
export async function forgetNotices(db: Db, now: Date): Promise<void> {
  await db
    .deleteFrom('processor_event')
    .where('received_at', '<', new Date(now.getTime() - NOTICES_KEPT_DAYS * DAY_MS))
    .execute()
}

/** One refund for each step of what was given back: a repeat finds the first. */
export async function refundCard(
  context: PaymentContext,
  reservation: Reservation,
  credits: number,
  refundedBefore: number,
): Promise<void> {
  const attempt = await attempts.findHold(context.db, reservation.id)
  if (attempt?.status === 'captured')
    await requirePayments(context).refund(attempt.payment_intent_id!, credits, `${reservation.id}:refund:${refundedBefore}`)
}
