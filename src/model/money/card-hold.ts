/**
 * Holds on a card, from the moment one is asked for until it is taken or freed. A hold is an attempt of `payment-attempt.ts`:
 * `authorized` while nothing refers to it (the sweep frees it then), `held` for a reservation, at last `captured` or `voided`.
 */
import { DAY_MS } from '#core/time.ts'
import { Problem, problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import { authenticationRequired, cancelIntent, cardDeclined, pay } from './card-payment.ts'
import * as attempts from './payment-attempt.ts'
import type { Attempt } from './payment-attempt.ts'
import { requirePayments, type PaymentContext } from './processor.ts'
import * as reservations from './reservation.ts'
import type { Reservation } from './reservation.ts'

interface WantedHold {
  organizationId: string
  userId: string | null
  credits: number
  requestKey: string
}

/** Holds a price on the default card and returns the attempt; a refusal leaves nothing behind. */
export async function hold(context: PaymentContext, wanted: WantedHold): Promise<string> {
  const { attempt, intent } = await pay(context, { ...wanted, kind: 'hold', cents: wanted.credits, bonusCredits: 0, offSession: false })
  if (intent.status === 'requires_action') throw authenticationRequired(intent)
  const now = context.clock.now()
  if (intent.status !== 'requires_capture') {
    await attempts.move(context.db, attempt.id, { from: ['pending'], to: 'failed', failure: intent.failure }, now)
    throw cardDeclined(intent)
  }
  await attempts.move(context.db, attempt.id, { from: ['pending', 'authorized'], to: 'authorized', failure: null }, now)
  return attempt.id
}

/** Puts a hold behind a reservation; there must be one. */
export async function bind({ tx, clock }: Change, attemptId: string | null, reservationId: string): Promise<void> {
  if (!attemptId || !(await attempts.move(tx, attemptId, { from: ['authorized'], to: 'held', reservationId }, clock.now())))
    throw problem('payment-processor-outage', 'The hold on the card was given back meanwhile; repeat the request')
}

/** Puts another hold behind a reservation. The former is freed by the sweep, now that nothing refers to it. */
export async function rebind(change: Change, attemptId: string | null, reservationId: string): Promise<void> {
  const former = await attempts.findHold(change.tx, reservationId)
  if (former) await attempts.move(change.tx, former.id, { from: ['held'], to: 'authorized' }, change.clock.now())
  await bind(change, attemptId, reservationId)
}

/** Does at the processor's what was decided about a card reservation: takes what is owed, or frees the hold. True when it is done. */
export async function settle(context: PaymentContext, reservation: Reservation): Promise<boolean> {
  const payments = requirePayments(context)
  const attempt = await attempts.findHold(context.db, reservation.id)
  if (!attempt || (reservation.state !== 'capturing' && reservation.state !== 'releasing')) return false
  const takes = reservation.state === 'capturing'
  const { capturedCredits } = reservation
  const before = await payments.getIntent(attempt.paymentIntentId!)
  const intent =
    before.status !== 'requires_capture'
      ? before
      : takes
        ? await payments.captureIntent(before.id, capturedCredits, `${reservation.id}:capture`)
        : await cancelIntent(payments, before)
  return await context.commit(reservation.organizationId, 'billing.settle_reservation', async (change) => {
    const { tx, clock } = change
    const now = clock.now()
    if (takes && intent.status === 'succeeded') {
      await attempts.move(tx, attempt.id, { from: ['held'], to: 'captured', capturedCents: capturedCredits }, now)
      return await reservations.move(tx, reservation.id, { from: ['capturing'], to: 'captured', capturedCredits }, now)
    }
    if (!takes && intent.status === 'canceled') {
      await attempts.move(tx, attempt.id, { from: ['held'], to: 'voided' }, now)
      return await reservations.move(tx, reservation.id, { from: ['releasing'], to: 'released' }, now)
    }
    if (intent.status === 'canceled') await endLost(change, attempt)
    return false
  })
}

/** The bank or the processor let a hold go that something still depends on: its reservation ends, with the reason. */
export async function endLost({ tx, clock }: Change, attempt: Attempt): Promise<void> {
  const now = clock.now()
  if (!(await attempts.move(tx, attempt.id, { from: ['held'], to: 'voided', failure: 'hold_lost' }, now))) return
  await reservations.move(
    tx,
    attempt.reservationId!,
    { from: ['live', 'capturing', 'releasing'], to: 'released', capturedCredits: 0, failure: 'hold_lost' },
    now,
  )
}

/** One refund for each step of what was given back: a repeat finds the first. */
export async function refund(context: PaymentContext, reservationId: string, credits: number, refundedBefore: number): Promise<void> {
  const attempt = await attempts.findHold(context.db, reservationId)
  if (attempt?.status === 'captured')
    await requirePayments(context).refund(attempt.paymentIntentId!, credits, `${reservationId}:refund:${refundedBefore}`)
}

/** Banks forget a hold after about a week, and a delivery may take longer: holds are made anew before that. */
const RENEW_AFTER_MS = 6 * DAY_MS
const RENEW_LIMIT = 100

export async function renewAging(context: PaymentContext): Promise<void> {
  const before = new Date(context.clock.now().getTime() - RENEW_AFTER_MS)
  for (const former of await attempts.agingHolds(context.db, before, RENEW_LIMIT)) {
    const renewal = await renew(context, former)
    if (renewal !== 'unknown') await replace(context, former, renewal)
  }
}

/** The new attempt; null when the bank refused; `unknown` while the processor does not answer, and then it is asked again. */
async function renew(context: PaymentContext, former: Attempt): Promise<string | 'unknown' | null> {
  const { organizationId, cents, credits, userId } = former
  const requestKey = `renewal of ${former.id}`
  try {
    const { attempt, intent } = await pay(context, {
      organizationId,
      kind: 'hold',
      requestKey,
      cents,
      credits,
      bonusCredits: 0,
      userId,
      offSession: true,
    })
    return intent.status === 'requires_capture' ? attempt.id : null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.slug === 'payment-processor-outage' ? 'unknown' : null
  }
}

/**
 * The new hold is there before the old one is let go: at no moment is the order without one. A refusal ends the
 * reservation, with its reason.
 */
async function replace(context: PaymentContext, former: Attempt, renewal: string | null): Promise<void> {
  const reservationId = former.reservationId!
  await context.commit(former.organizationId, 'billing.renew_holds', async ({ tx, clock }) => {
    const now = clock.now()
    const isHeld = await attempts.move(tx, former.id, { from: ['held'], to: 'authorized' }, now)
    if (!isHeld) return // Settled meanwhile; the sweep frees the new hold.
    if (renewal) await attempts.move(tx, renewal, { from: ['pending', 'authorized'], to: 'held', reservationId }, now)
    else await reservations.move(tx, reservationId, { from: ['live'], to: 'released', failure: 'card_declined' }, now)
  })
}
