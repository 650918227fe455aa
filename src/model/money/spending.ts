/**
 * What orders, clips and jobs know of money. `authorize` in `prepare` (outside any transaction), `reserve` in `execute` (in
 * the transaction that makes the thing), later `capture`, `release` or `refund`. How the organization pays is decided here:
 * from its credits, by a hold on its card, or by an accrual to its monthly invoice.
 *
 * The way of an order that is paid by card, file by file:
 *
 * 1. `authorize`, here, looks at the caps and asks `hold` of `card-hold.ts` for the price.
 * 2. `card-payment.ts` writes the attempt down, and only then asks the card (`payment-attempt.ts` has the rows).
 * 3. `reserve`, here, makes the reservation with the order and binds the hold to it.
 * 4. `capture` or `release`, here, decides and queues `settleReservationTask`, whose handler lets `settle` of `card-hold.ts`
 *    take the money or free the hold at the processor's.
 *
 * Of an order that is paid from credits, all but the price is in `ledger.ts`. One that is paid on account accrues here with each of
 * these steps, provisionally until it is settled (`accrual.ts`).
 */
import { newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import type { AccrualKind, BillingMode, SpendLine } from '#db/tables/money.ts'
import { billingModeOf, walletOf } from './billing-account.ts'
import type { Change } from '#effects.ts'
import { tellIfLow } from './low-balance.ts'
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

/** Who spends. Caps and attribution are the person's, also behind a key. */
interface Spender {
  organizationId: string
  userId: string | null
  apiKeyId: string | null
  /** Waives the caps for what it was given for, up to its ceiling. */
  approval: NonNullable<Principal['approval']> | null
}

export const spenderOf = (principal: Principal, organizationId: string): Spender => ({
  organizationId,
  userId: principal.userId,
  apiKeyId: principal.apiKeyId,
  approval: principal.approval ?? null,
})

/** How a purchase will be paid, found out before the transaction that makes it. */
interface Funding {
  spender: Spender
  mode: BillingMode
  credits: number
  /** What of it the spender agrees to: all of it, or one part of an order that others share in. */
  agreed: Agreed
  /** Orders count against the member's caps; processing and clips do not. */
  countsForCaps: boolean
  attemptId: string | null
}

interface WantedFunding {
  spender: Spender
  credits: number
  /** Where only a part of it is agreed on now. */
  agreed?: Agreed
  /** The reservation that the part belongs to, where there is one. */
  reservationId?: string | null
  countsForCaps: boolean
  /** The operation's id and the caller's key: a repeated request finds its hold again. */
  operation: string
  idempotencyKey: string
  /** Where it is settled already how this is paid, as for a reservation that is to be repriced. */
  mode?: BillingMode | undefined
}

/** Whether a member's caps would let a purchase pass, where nothing is reserved yet. */
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
    throw problem('approval-exceeded', `This costs ${credits} credits and the approval allows ${approval.ceilingCredits}`, {
      members: { required_credits: credits, approved_credits: approval.ceilingCredits },
    })
}

/** Stage 6a. Only a card is asked now; a refusal leaves nothing behind. */
export async function authorize(
  context: PaymentContext,
  { spender, credits, agreed = { part: WHOLE, credits }, reservationId = null, countsForCaps, ...wanted }: WantedFunding,
): Promise<Funding> {
  const { db, clock } = context
  const { operation, idempotencyKey } = wanted
  const { organizationId, userId, approval } = spender
  requireWithinApproval(approval, agreed.credits)
  const mode = wanted.mode ?? (await billingModeOf(db, organizationId))
  const funding: Funding = { spender, mode, credits, agreed, countsForCaps, attemptId: null }
  if (mode !== 'card' || credits === 0) return funding
  if (countsForCaps && userId && !approval) await caps.requireLikely(db, { organizationId, userId, ...agreed, reservationId }, clock.now())
  const attemptId = await cardHolds.hold(context, { organizationId, userId, credits, requestKey: `${operation} ${idempotencyKey}` })
  return { ...funding, attemptId }
}

interface Spend {
  reference: Reference
  lines: readonly SpendLine[]
  /** When nothing has settled it by then, it is released. */
  deadlineAt?: Date | null
  description?: string
}

/** Stage 6b, in the transaction that makes what is paid for. Throws before anything is reserved when a cap or the funds forbid it. */
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
  const made = {
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
  if (mode !== 'credit' || credits === 0) await ledgers.reserveWithoutCredits(tx, cause, made)
  else {
    const after = await ledgers.reserve(tx, cause, made)
    if (!after) throw await insufficient(change, organizationId, credits)
    await tellIfLow(change, organizationId, after)
  }
  await accrue(change, { ...made, organizationId }, 'provisional', credits)
  if (countsForCaps) await agreedSpend.put(tx, { id: made.id, organizationId, userId }, funding.agreed, now)
  if (funding.attemptId) await cardHolds.bind(change, funding.attemptId, made.id)
  return { id: made.id, mode }
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

/** The approval that lets a purchase pass the caps, null where none is needed; throws when one would be. */
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
  return problem('insufficient-credits', `This costs ${required} credits and ${available} are available`, {
    members: { required_credits: required, available_credits: available },
  })
}

/** Where the reservation behind something stands; null: there is none. */
export async function standingOf(db: Db, organizationId: string, reference: Reference): Promise<Reservation | null> {
  return await reservations.findFor(db, organizationId, reference)
}

/** What became of a settlement. `pending`: the card is charged or freed by the work that was queued with it. */
interface Settlement {
  mode: BillingMode
  capturedCredits: number
  releasedCredits: number
  pending: boolean
}

/**
 * It succeeded: takes what is owed, all by default, and releases the rest. `parts` say what of it is owed for each part that was
 * agreed on by itself. Null: there is nothing live to capture.
 */
export async function capture(
  change: Change,
  organizationId: string,
  reference: Reference,
  credits?: number,
  parts: ReadonlyMap<string, number> | null = null,
): Promise<Settlement | null> {
  const found = await reservations.lock(change.tx, organizationId, reference)
  if (found?.state !== 'live') return null
  const owed = Math.min(credits ?? found.credits, found.credits)
  await agreedSpend.capture(change.tx, found.id, owed, parts)
  return await settle(change, found, owed, owed > 0 || found.credits === 0 ? 'captured' : 'released')
}

/** It failed or was cancelled: nothing is owed. Null: there is nothing live to release. */
export async function release(change: Change, organizationId: string, reference: Reference): Promise<Settlement | null> {
  const found = await reservations.lock(change.tx, organizationId, reference)
  return found?.state === 'live' ? await settle(change, found, 0, 'released') : null
}

async function settle(change: Change, found: Reservation, captured: number, end: 'captured' | 'released'): Promise<Settlement> {
  const { tx, clock, invocationId, tasks } = change
  const now = clock.now()
  const byCard = found.mode === 'card' && found.credits > 0
  if (found.mode === 'credit' && found.credits > 0) await ledgers.settle(tx, causeOf(found, invocationId, now), found.id, captured)
  else {
    const to = !byCard ? end : end === 'captured' ? 'capturing' : 'releasing'
    await reservations.move(tx, found.id, { from: ['live'], to, capturedCredits: captured }, now)
    await accrue(change, found, 'final', captured - found.credits)
  }
  if (byCard) await tasks.enqueue(settleReservationTask, { reservation_id: found.id })
  return { mode: found.mode, capturedCredits: captured, releasedCredits: found.credits - captured, pending: byCard }
}

const causeOf = (found: Reservation, invocationId: string, now: Date) => ({
  organizationId: found.organizationId,
  invocationId,
  now,
  reference: reservations.referenceOf(found),
})

/** Gives back what was captured; a card is refunded by the work that is queued with it. False: not so much was captured. */
export async function refund(change: Change, organizationId: string, reference: Reference, credits: number): Promise<boolean> {
  const { tx, clock, invocationId, tasks } = change
  const found = await reservations.lock(tx, organizationId, reference)
  if (found?.state !== 'captured') return false
  const { refundedCredits } = found
  if (refundedCredits + credits > found.capturedCredits) return false
  if (found.mode === 'credit') return (await ledgers.refund(tx, causeOf(found, invocationId, clock.now()), found.id, credits)) !== null
  await reservations.setRefunded(tx, found.id, refundedCredits + credits)
  await accrue(change, found, 'refund', -credits)
  if (found.mode === 'card') await tasks.enqueue(refundCardTask, { reservation_id: found.id, credits, refunded_before: refundedCredits })
  return true
}

/**
 * Moves a live reservation to another price, by the difference alone. A card needs a new hold first, from `authorize` with
 * the new price.
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
  const found = await reservations.lock(tx, organizationId, reference)
  if (found?.state !== 'live') throw problem('bad-request', 'The reservation has been settled')
  await approvalFor(change, funding, found.id)
  if (countsForCaps) await agreedSpend.put(tx, { id: found.id, organizationId, userId }, agreed, now)
  if (found.mode === 'credit') {
    const after = await ledgers.resize(tx, causeOf(found, invocationId, now), found.id, credits, lines)
    if (!after) throw await insufficient(change, organizationId, credits - found.credits)
    return await tellIfLow(change, organizationId, after)
  }
  await reservations.setPrice(tx, found.id, credits, lines)
  await accrue(change, found, 'provisional', credits - found.credits)
  if (found.mode === 'card') await cardHolds.rebind(change, funding.attemptId, found.id)
}
