/**
 * Card holds, from authorization to capture or release. A hold is a payment attempt (`payment-attempt.ts`): `authorized` while nothing
 * refers to it (then the sweep releases it), `held` for a reservation, and finally `captured` or `voided`.
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

interface HoldRequest {
  organizationId: string
  userId: string | null
  credits: number
  requestKey: string
}

/** Holds an amount on the default card and returns the attempt's ID. A declined hold leaves nothing behind. */
export async function hold(context: PaymentContext, request: HoldRequest): Promise<string> {
  const { attempt, intent } = await pay(context, { ...request, kind: 'hold', cents: request.credits, bonusCredits: 0, offSession: false })
  if (intent.status === 'requires_action') throw authenticationRequired(intent)
  const now = context.clock.now()
  if (intent.status !== 'requires_capture') {
    await attempts.move(context.db, attempt.id, { from: ['pending'], to: 'failed', failure: intent.failure }, now)
    throw cardDeclined(intent)
  }
  await attempts.move(context.db, attempt.id, { from: ['pending', 'authorized'], to: 'authorized', failure: null }, now)
  return attempt.id
}

/** Binds a hold to a reservation. */
export async function bind({ tx, clock }: Change, attemptId: string | null, reservationId: string): Promise<void> {
  if (!attemptId || !(await attempts.move(tx, attemptId, { from: ['authorized'], to: 'held', reservationId }, clock.now())))
    throw problem('payment-processor-outage', 'The card hold was released meanwhile; repeat the request')
}

/** Binds another hold to a reservation. The sweep releases the former one, to which nothing refers any more. */
export async function rebind(change: Change, attemptId: string | null, reservationId: string): Promise<void> {
  const former = await attempts.findHold(change.tx, reservationId)
  if (former) await attempts.move(change.tx, former.id, { from: ['held'], to: 'authorized' }, change.clock.now())
  await bind(change, attemptId, reservationId)
}

/** Carries out at the processor what was decided about a card reservation: captures or releases the hold. Returns true when done. */
export async function settle(context: PaymentContext, reservation: Reservation): Promise<boolean> {
  const payments = requirePayments(context)
  const attempt = await attempts.findHold(context.db, reservation.id)
  if (!attempt || (reservation.state !== 'capturing' && reservation.state !== 'releasing')) return false
  const captures = reservation.state === 'capturing'
  const { capturedCredits } = reservation
  const before = await payments.getIntent(attempt.paymentIntentId!)
  const intent =
    before.status !== 'requires_capture'
      ? before
      : captures
        ? await payments.captureIntent(before.id, capturedCredits, `${reservation.id}:capture`)
        : await cancelIntent(payments, before)
  return await context.commit(reservation.organizationId, 'billing.settle_reservation', async (change) => {
    const { tx, clock } = change
    const now = clock.now()
    if (captures && intent.status === 'succeeded') {
      await attempts.move(tx, attempt.id, { from: ['held'], to: 'captured', capturedCents: capturedCredits }, now)
      return await reservations.move(tx, reservation.id, { from: ['capturing'], to: 'captured', capturedCredits }, now)
    }
    if (!captures && intent.status === 'canceled') {
      await attempts.move(tx, attempt.id, { from: ['held'], to: 'voided' }, now)
      return await reservations.move(tx, reservation.id, { from: ['releasing'], to: 'released' }, now)
    }
    if (intent.status === 'canceled') await endLost(change, attempt)
    return false
  })
}

/** The bank or the processor dropped a hold that a reservation needs: the reservation ends, with the reason. */
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

/** One refund per amount refunded before, so that a repeated call finds the first refund. */
export async function refund(context: PaymentContext, reservationId: string, credits: number, refundedBefore: number): Promise<void> {
  const attempt = await attempts.findHold(context.db, reservationId)
  if (attempt?.status === 'captured')
    await requirePayments(context).refund(attempt.paymentIntentId!, credits, `${reservationId}:refund:${refundedBefore}`)
}

/** Banks drop a hold after about a week and deliveries can take longer, so holds are renewed before that. */
const RENEW_AFTER_MS = 6 * DAY_MS
const RENEW_LIMIT = 100

export async function renewAging(context: PaymentContext): Promise<void> {
  const before = new Date(context.clock.now().getTime() - RENEW_AFTER_MS)
  for (const former of await attempts.agingHolds(context.db, before, RENEW_LIMIT)) {
    const renewal = await renew(context, former)
    if (renewal !== 'unknown') await replace(context, former, renewal)
  }
}

/** Returns the new attempt's ID, null if the bank declined, or `unknown` if the processor did not respond; then it is retried. */
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
 * The new hold exists before the old one is released, so the order always has one. A declined renewal ends the reservation, with the
 * reason.
 */
async function replace(context: PaymentContext, former: Attempt, renewal: string | null): Promise<void> {
  const reservationId = former.reservationId!
  await context.commit(former.organizationId, 'billing.renew_holds', async ({ tx, clock }) => {
    const now = clock.now()
    const isHeld = await attempts.move(tx, former.id, { from: ['held'], to: 'authorized' }, now)
    if (!isHeld) return // Settled meanwhile; the sweep releases the new hold.
    if (renewal) await attempts.move(tx, renewal, { from: ['pending', 'authorized'], to: 'held', reservationId }, now)
    else await reservations.move(tx, reservationId, { from: ['live'], to: 'released', failure: 'card_declined' }, now)
  })
}
