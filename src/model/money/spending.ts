/**
 * What orders, clips and jobs know of money. `authorize` in `prepare` (outside any transaction), `reserve` in `execute` (in
 * the transaction that makes the thing), later `capture`, `release` or `refund`. How the organization pays is decided here:
 * from its credits, by a hold on its card, or by an accrual to its monthly invoice.
 */
import { newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { problem } from '#core/problem.ts'
import type { BillingMode, SpendLine } from '#db/tables.ts'
import { billingModeOf, walletOf } from './billing-account.ts'
import type { Change } from '#effects.ts'
import { watchBalance } from './low-balance.ts'
import type { PaymentContext } from './processor.ts'
import { authenticationRequired, cardDeclined, pay } from './card-payment.ts'
import * as ledger from './ledger.ts'
import type { Reference } from './ledger.ts'
import * as attempts from './payment-attempt.ts'
import * as reservations from './reservation.ts'
import type { Reservation } from './reservation.ts'
import * as caps from './spend-caps.ts'
import { refundCardTask, settleReservationTask } from './tasks.ts'

/** Who spends. Caps and attribution are the person's, also behind a key. */
export interface Spender {
  organizationId: string
  userId: string | null
  apiKeyId: string | null
  /** Waives the caps for what it was given for. */
  approvalId: string | null
}

export const spenderOf = (principal: Principal, organizationId: string): Spender => ({
  organizationId,
  userId: principal.userId,
  apiKeyId: principal.apiKeyId,
  approvalId: principal.approvalId ?? null,
})

/** How a purchase will be paid, found out before the transaction that makes it. */
export interface Funding {
  spender: Spender
  mode: BillingMode
  credits: number
  /** Orders count against the member's caps; processing and clips do not. */
  countsForCaps: boolean
  attemptId: string | null
}

export interface WantedFunding {
  spender: Spender
  credits: number
  countsForCaps: boolean
  /** The operation's id and the caller's key: a repeated request finds its hold again. */
  operation: string
  idempotencyKey: string
}

/** Stage 6a. Only a card is asked now; a refusal leaves nothing behind. */
export async function authorize(
  context: PaymentContext,
  { spender, credits, countsForCaps, operation, idempotencyKey }: WantedFunding,
): Promise<Funding> {
  const { db, clock } = context
  const mode = await billingModeOf(db, spender.organizationId)
  const funding: Funding = { spender, mode, credits, countsForCaps, attemptId: null }
  if (mode !== 'card' || credits === 0) return funding
  if (countsForCaps && spender.userId && !spender.approvalId)
    await caps.requireLikely(db, { organizationId: spender.organizationId, userId: spender.userId, credits, replaces: null }, clock.now())
  return { ...funding, attemptId: await hold(context, spender, credits, `${operation} ${idempotencyKey}`, false) }
}

async function hold(
  context: PaymentContext,
  { organizationId, userId }: Spender,
  credits: number,
  requestKey: string,
  offSession: boolean,
): Promise<string> {
  const { attempt, intent } = await pay(context, {
    organizationId,
    kind: 'hold',
    requestKey,
    cents: credits,
    credits,
    bonusCredits: 0,
    userId,
    offSession,
  })
  if (intent.status === 'requires_action') throw authenticationRequired(intent)
  const now = context.clock.now()
  if (intent.status !== 'requires_capture') {
    await attempts.move(context.db, attempt.id, { from: ['pending'], to: 'failed', failure: intent.failure }, now)
    throw cardDeclined(intent)
  }
  await attempts.move(context.db, attempt.id, { from: ['pending', 'authorized'], to: 'authorized', failure: null }, now)
  return attempt.id
}

export interface Spend {
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
  const approvalId = await waiverOf(change, funding, null)
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
  if (mode !== 'credit' || credits === 0) await ledger.note(tx, cause, made)
  else {
    const after = await ledger.reserve(tx, cause, made)
    if (!after) throw await insufficient(change, organizationId, credits)
    await watchBalance(change, organizationId, after)
  }
  if (funding.attemptId && !(await attempts.move(tx, funding.attemptId, { from: ['authorized'], to: 'held', reservationId: made.id }, now)))
    throw problem('payment-processor-outage', 'The hold on the card was given back meanwhile; repeat the request')
  return { id: made.id, mode }
}

/** The approval that lets a purchase pass the caps, null where none is needed; throws when one would be. */
async function waiverOf(
  { tx, clock }: Change,
  { spender: { organizationId, userId, approvalId }, countsForCaps, credits }: Funding,
  replaces: string | null,
): Promise<string | null> {
  if (approvalId || !countsForCaps || !userId) return approvalId
  return await caps.requireWithin(tx, { organizationId, userId, credits, replaces }, clock.now())
}

async function insufficient({ tx }: Change, organizationId: string, required: number) {
  const { available } = await walletOf(tx, organizationId)
  return problem('insufficient-credits', `This costs ${required} credits and ${available} are available`, {
    members: { required_credits: required, available_credits: available },
  })
}

/** What became of a settlement. `pending`: the card is charged or freed by the work that was queued with it. */
export interface Settlement {
  mode: BillingMode
  capturedCredits: number
  releasedCredits: number
  pending: boolean
}

/** It succeeded: takes what is owed, all by default, and releases the rest. Null: there is nothing live to capture. */
export async function capture(change: Change, organizationId: string, reference: Reference, credits?: number): Promise<Settlement | null> {
  const found = await reservations.lock(change.tx, organizationId, reference)
  if (found?.state !== 'live') return null
  const owed = Math.min(credits ?? found.credits, found.credits)
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
  if (found.mode === 'credit' && found.credits > 0) await ledger.settle(tx, causeOf(found, invocationId, now), found.id, captured)
  else
    await reservations.move(
      tx,
      found.id,
      { from: ['live'], to: byCard ? (end === 'captured' ? 'capturing' : 'releasing') : end, capturedCredits: captured },
      now,
    )
  if (byCard) await tasks.enqueue(settleReservationTask, { reservation_id: found.id })
  return { mode: found.mode, capturedCredits: captured, releasedCredits: found.credits - captured, pending: byCard }
}

const causeOf = (found: Reservation, invocationId: string, now: Date) => ({
  organizationId: found.org_id,
  invocationId,
  now,
  reference: { type: found.reference_type, id: found.reference_id },
})

/** Gives back what was captured from credits or accrued; a card is refunded by the work that is queued with it. False: not so much was captured. */
export async function refund(change: Change, organizationId: string, reference: Reference, credits: number): Promise<boolean> {
  const { tx, clock, invocationId, tasks } = change
  const found = await reservations.lock(tx, organizationId, reference)
  if (found?.state !== 'captured' || found.refunded_credits + credits > found.captured_credits) return false
  if (found.mode === 'credit') return (await ledger.refund(tx, causeOf(found, invocationId, clock.now()), found.id, credits)) !== null
  await tx
    .updateTable('reservation')
    .set({ refunded_credits: found.refunded_credits + credits })
    .where('id', '=', found.id)
    .execute()
  if (found.mode === 'card')
    await tasks.enqueue(refundCardTask, { reservation_id: found.id, credits, refunded_before: found.refunded_credits })
  return true
}

/** Moves a live reservation to another price, by the difference alone. A card needs a new hold first, from `authorize` with the new price. */
export async function reprice(change: Change, funding: Funding, reference: Reference, lines: readonly SpendLine[]): Promise<void> {
  const { tx, clock, invocationId } = change
  const {
    spender: { organizationId },
    credits,
  } = funding
  const now = clock.now()
  const found = await reservations.lock(tx, organizationId, reference)
  if (found?.state !== 'live') throw problem('bad-request', 'The reservation has been settled')
  await waiverOf(change, funding, found.id)
  if (found.mode === 'credit') {
    const after = await ledger.resize(tx, causeOf(found, invocationId, now), found.id, credits, lines)
    if (!after) throw await insufficient(change, organizationId, credits - found.credits)
    return await watchBalance(change, organizationId, after)
  }
  await tx
    .updateTable('reservation')
    .set({ credits, lines: JSON.stringify(lines) })
    .where('id', '=', found.id)
    .execute()
  if (found.mode === 'card') await swapHold(change, found, funding.attemptId)
}

/** The former hold is freed by the sweep of payments once nothing refers to it. */
async function swapHold({ tx, clock }: Change, found: Reservation, attemptId: string | null): Promise<void> {
  const former = await attempts.findHold(tx, found.id)
  if (former) await attempts.move(tx, former.id, { from: ['held'], to: 'authorized' }, clock.now())
  if (!attemptId || !(await attempts.move(tx, attemptId, { from: ['authorized'], to: 'held', reservationId: found.id }, clock.now())))
    throw problem('payment-processor-outage', 'The hold on the card was given back meanwhile; repeat the request')
}
