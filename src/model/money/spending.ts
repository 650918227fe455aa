/**
 * Spending by orders, clips and jobs: `authorize` in `prepare` (outside any transaction), `reserve` in `execute` (in the transaction that
 * creates the order or job), later `capture`, `release` or `refund`. The payment method is decided here: credits, a card hold, or an
 * accrual for the monthly invoice.
 *
 * The path of an order paid by card, file by file:
 *
 * 1. `authorize`, here, checks the spending limits and requests a hold from `hold` in `card-hold.ts`.
 * 2. `card-payment.ts` stores the attempt and only then calls the processor (`payment-attempt.ts` has the rows).
 * 3. `reserve`, here, creates the reservation with the order and binds the hold to it.
 * 4. `capture` or `release`, here, decides and queues `settleReservationTask`, whose handler calls `settle` in `card-hold.ts` to capture
 *    or release the hold at the processor.
 *
 * For an order paid from credits, everything but the price is in `ledger.ts`. An order paid on account accrues here with each of these
 * steps, provisionally until it is settled (`accrual.ts`).
 */
import { newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import type { AccrualKind, BillingMode, SpendLine } from '#db/tables/money.ts'
import { billingModeOf, walletOf } from './billing-account.ts'
import type { Change } from '#effects.ts'
import { reportLowBalance } from './low-balance.ts'
import type { PaymentContext } from './processor.ts'
import * as accruals from './accrual.ts'
import { WHOLE, type Agreed } from './agreed-spend.ts'
import * as agreedSpend from './agreed-spend.ts'
import * as cardHolds from './card-hold.ts'
import * as ledgers from './ledger.ts'
import type { Reference } from './ledger.ts'
import * as reservations from './reservation.ts'
import type { Reservation } from './reservation.ts'
import * as caps from './spend-caps.ts'
import { refundCardTask, settleReservationTask } from './tasks.ts'

/** Who spends. Limits and attribution are the user's, even behind an API key. */
interface Spender {
  organizationId: string
  userId: string | null
  apiKeyId: string | null
  /** Waives the limits for its purchase, up to its ceiling. */
  approval: NonNullable<Principal['approval']> | null
}

export const spenderOf = (principal: Principal, organizationId: string): Spender => ({
  organizationId,
  userId: principal.userId,
  apiKeyId: principal.apiKeyId,
  approval: principal.approval ?? null,
})

/** How a purchase will be paid, determined before its transaction. */
interface Funding {
  spender: Spender
  mode: BillingMode
  credits: number
  /** What the spender agrees to: all of it, or one part of an order. */
  agreed: Agreed
  /** Orders count against the member's limits; processing and clips do not. */
  countsForCaps: boolean
  attemptId: string | null
}

interface FundingRequest {
  spender: Spender
  credits: number
  /** Set if only a part is agreed now. */
  agreed?: Agreed
  /** The reservation of that part, if it exists. */
  reservationId?: string | null
  countsForCaps: boolean
  /** The operation's ID and the caller's idempotency key: a repeated request finds its hold again. */
  operation: string
  idempotencyKey: string
  /** Set if the billing mode is already fixed, as for a reservation that is repriced. */
  mode?: BillingMode | undefined
}

/** Checks a member's limits before anything is reserved. */
export async function requireWithinCaps(
  { db, clock }: Pick<PaymentContext, 'db' | 'clock'>,
  { organizationId, userId, approval }: Spender,
  credits: number,
): Promise<void> {
  requireWithinApproval(approval, credits)
  if (userId && !approval) await caps.requireLikely(db, { organizationId, userId, credits, reservationId: null, part: WHOLE }, clock.now())
}

/** An approved purchase costs at most what its approver agreed to. */
function requireWithinApproval(approval: Spender['approval'], credits: number): void {
  if (approval && credits > approval.ceilingCredits)
    throw problem('approval-exceeded', `This costs ${credits} credits; the approval allows ${approval.ceilingCredits}`, {
      members: { required_credits: credits, approved_credits: approval.ceilingCredits },
    })
}

/** Stage 6a. Only card payments call the processor now; a declined card leaves nothing behind. */
export async function authorize(
  context: PaymentContext,
  { spender, credits, agreed = { part: WHOLE, credits }, reservationId = null, countsForCaps, ...request }: FundingRequest,
): Promise<Funding> {
  const { db, clock } = context
  const { operation, idempotencyKey } = request
  const { organizationId, userId, approval } = spender
  requireWithinApproval(approval, agreed.credits)
  const mode = request.mode ?? (await billingModeOf(db, organizationId))
  const funding: Funding = { spender, mode, credits, agreed, countsForCaps, attemptId: null }
  if (mode !== 'card' || credits === 0) return funding
  if (countsForCaps && userId && !approval) await caps.requireLikely(db, { organizationId, userId, ...agreed, reservationId }, clock.now())
  const attemptId = await cardHolds.hold(context, { organizationId, userId, credits, requestKey: `${operation} ${idempotencyKey}` })
  return { ...funding, attemptId }
}

interface Spend {
  reference: Reference
  lines: readonly SpendLine[]
  /** Released if nothing has settled it by then. */
  deadlineAt?: Date | null
  description?: string
}

/** Stage 6b, in the transaction that creates the order or job. Throws before reserving if a limit or the balance is exceeded. */
export async function reserve(change: Change, funding: Funding, spend: Spend): Promise<{ id: string; mode: BillingMode }> {
  const { tx, clock, invocationId } = change
  const {
    spender: { organizationId, userId, apiKeyId },
    credits,
    mode,
    countsForCaps,
  } = funding
  const now = clock.now()
  const approvalId = await approvalFor(change, funding, null)
  const cause = { organizationId, invocationId, now, reference: spend.reference, description: spend.description ?? null }
  const reservation = {
    id: newId(),
    mode,
    credits,
    userId,
    apiKeyId,
    countsForCaps,
    lines: spend.lines,
    deadlineAt: spend.deadlineAt ?? null,
    approvalId,
  }
  if (mode !== 'credit' || credits === 0) await ledgers.reserveWithoutCredits(tx, cause, reservation)
  else {
    const after = await ledgers.reserve(tx, cause, reservation)
    if (!after) throw await insufficient(change, organizationId, credits)
    await reportLowBalance(change, organizationId, after)
  }
  await accrue(change, { ...reservation, organizationId }, 'provisional', credits)
  if (countsForCaps) await agreedSpend.put(tx, { id: reservation.id, organizationId, userId }, funding.agreed, now)
  if (funding.attemptId) await cardHolds.bind(change, funding.attemptId, reservation.id)
  return { id: reservation.id, mode }
}

/** On account, each change of what is owed is an entry. */
async function accrue(
  { tx, clock, invocationId }: Change,
  { id, organizationId, mode }: Pick<Reservation, 'id' | 'organizationId' | 'mode'>,
  kind: AccrualKind,
  credits: number,
): Promise<void> {
  if (mode !== 'enterprise') return
  await accruals.add(tx, { organizationId, reservationId: id, kind, credits, invocationId, now: clock.now() })
}

/** The approval that waives the limits; null if none is needed. Throws if one is needed but missing. */
async function approvalFor(
  { tx, clock }: Change,
  { spender: { organizationId, userId, approval }, countsForCaps, agreed }: Funding,
  reservationId: string | null,
): Promise<string | null> {
  requireWithinApproval(approval, agreed.credits)
  if (approval || !countsForCaps || !userId) return approval?.id ?? null
  return await caps.requireWithin(tx, { organizationId, userId, ...agreed, reservationId }, clock.now())
}

async function insufficient({ tx }: Change, organizationId: string, required: number) {
  const { available } = await walletOf(tx, organizationId)
  return problem('insufficient-credits', `This costs ${required} credits; ${available} are available`, {
    members: { required_credits: required, available_credits: available },
  })
}

/** The reservation of an order or job; null if there is none. */
export async function standingOf(db: Db, organizationId: string, reference: Reference): Promise<Reservation | null> {
  return await reservations.findFor(db, organizationId, reference)
}

/** The result of a settlement. `pending` if a queued task captures or releases the card hold. */
interface Settlement {
  mode: BillingMode
  capturedCredits: number
  releasedCredits: number
  pending: boolean
}

/**
 * For success: captures what is owed, everything by default, and releases the rest. `parts` gives what is owed for each part that was
 * agreed separately. Returns null if there is no live reservation.
 */
export async function capture(
  change: Change,
  organizationId: string,
  reference: Reference,
  credits?: number,
  parts: ReadonlyMap<string, number> | null = null,
): Promise<Settlement | null> {
  const reservation = await reservations.lock(change.tx, organizationId, reference)
  if (reservation?.state !== 'live') return null
  const owed = Math.min(credits ?? reservation.credits, reservation.credits)
  await agreedSpend.capture(change.tx, reservation.id, owed, parts)
  return await settle(change, reservation, owed, owed > 0 || reservation.credits === 0 ? 'captured' : 'released')
}

/** For failure or cancellation: nothing is owed. Returns null if there is no live reservation. */
export async function release(change: Change, organizationId: string, reference: Reference): Promise<Settlement | null> {
  const reservation = await reservations.lock(change.tx, organizationId, reference)
  return reservation?.state === 'live' ? await settle(change, reservation, 0, 'released') : null
}

async function settle(change: Change, reservation: Reservation, captured: number, end: 'captured' | 'released'): Promise<Settlement> {
  const { tx, clock, invocationId, tasks } = change
  const now = clock.now()
  const byCard = reservation.mode === 'card' && reservation.credits > 0
  if (reservation.mode === 'credit' && reservation.credits > 0)
    await ledgers.settle(tx, causeOf(reservation, invocationId, now), reservation.id, captured)
  else {
    const to = !byCard ? end : end === 'captured' ? 'capturing' : 'releasing'
    await reservations.move(tx, reservation.id, { from: ['live'], to, capturedCredits: captured }, now)
    await accrue(change, reservation, 'final', captured - reservation.credits)
  }
  if (byCard) await tasks.enqueue(settleReservationTask, { reservation_id: reservation.id })
  return { mode: reservation.mode, capturedCredits: captured, releasedCredits: reservation.credits - captured, pending: byCard }
}

const causeOf = (reservation: Reservation, invocationId: string, now: Date) => ({
  organizationId: reservation.organizationId,
  invocationId,
  now,
  reference: reservations.referenceOf(reservation),
})

/** Refunds captured credits; a queued task refunds a card. Returns false if fewer were captured. */
export async function refund(change: Change, organizationId: string, reference: Reference, credits: number): Promise<boolean> {
  const { tx, clock, invocationId, tasks } = change
  const reservation = await reservations.lock(tx, organizationId, reference)
  if (reservation?.state !== 'captured') return false
  const { refundedCredits } = reservation
  if (refundedCredits + credits > reservation.capturedCredits) return false
  if (reservation.mode === 'credit')
    return (await ledgers.refund(tx, causeOf(reservation, invocationId, clock.now()), reservation.id, credits)) !== null
  await reservations.setRefunded(tx, reservation.id, refundedCredits + credits)
  await accrue(change, reservation, 'refund', -credits)
  if (reservation.mode === 'card')
    await tasks.enqueue(refundCardTask, { reservation_id: reservation.id, credits, refunded_before: refundedCredits })
  return true
}

/**
 * Changes a live reservation to another price, by the difference. A card payment first needs a new hold from `authorize` with the new
 * price.
 */
export async function reprice(change: Change, funding: Funding, reference: Reference, lines: readonly SpendLine[]): Promise<void> {
  const { tx, clock, invocationId } = change
  const {
    spender: { organizationId, userId },
    credits,
    countsForCaps,
    agreed,
  } = funding
  const now = clock.now()
  const reservation = await reservations.lock(tx, organizationId, reference)
  if (reservation?.state !== 'live') throw problem('bad-request', 'The reservation is already settled')
  await approvalFor(change, funding, reservation.id)
  if (countsForCaps) await agreedSpend.put(tx, { id: reservation.id, organizationId, userId }, agreed, now)
  if (reservation.mode === 'credit') {
    const after = await ledgers.resize(tx, causeOf(reservation, invocationId, now), reservation.id, credits, lines)
    if (!after) throw await insufficient(change, organizationId, credits - reservation.credits)
    return await reportLowBalance(change, organizationId, after)
  }
  await reservations.setPrice(tx, reservation.id, credits, lines)
  await accrue(change, reservation, 'provisional', credits - reservation.credits)
  if (reservation.mode === 'card') await cardHolds.rebind(change, funding.attemptId, reservation.id)
}
