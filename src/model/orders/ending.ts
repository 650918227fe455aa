/**
 * How orders end, and what becomes of their money: both in one transaction. An order ends when its last group does. If anything
 * was delivered it is fulfilled, what was delivered is paid and the rest released; if nothing was, it has failed, and all of it
 * is released. Whoever comes here holds the order's row, so that the last two groups cannot both miss that they were the last.
 */
import { isIn } from '#core/vocabulary.ts'
import type { Change } from '#effects.ts'
import * as spending from '#model/money/spending.ts'
import { proceed } from './deciding.ts'
import * as group from './order-group.ts'
import * as orders from './order.ts'
import { referenceOf, type Order } from './order.ts'
import { DELIVERED_STATUSES, ENDED_STATUSES, GROUP_MOVES } from './states.ts'

const HOLD_LOST = 'The hold on the card was lost before the delivery, so nothing could be charged'

/** Ends the order once all its groups have ended, and returns it as it is then. The caller holds the order's row. */
export async function concludeIfDone(change: Change, id: string): Promise<Order> {
  const current = await orders.get(change.tx, id)
  const { groups } = current
  if (!groups.every(({ status }) => isIn(ENDED_STATUSES, status))) return current
  const delivered = groups.filter(({ status }) => isIn(DELIVERED_STATUSES, status))
  if (delivered.length === 0) return await fail(change, current, reasonsOf(current))
  const accepted = (await orders.move(change, current, 'accept')) ?? current
  const owed = delivered.reduce((sum, { capturedCredits }) => sum + capturedCredits, 0)
  const settlement = await spending.capture(change, current.organizationId, referenceOf(current), owed, partsOf(current))
  if (!settlement) throw new Error(`order ${id} was delivered, but there is nothing live to capture`)
  const fulfilled = await orders.move(change, accepted, 'fulfil', {
    reason: reasonsOf(current),
    capturedCredits: settlement.capturedCredits,
    more: { item_ids: orders.itemIdsOf(current), captured_credits: settlement.capturedCredits },
  })
  return fulfilled ?? accepted
}

/** What is owed for each group, where members agreed on them one by one. */
const partsOf = ({ orderType, groups }: Order): Map<string, number> | null =>
  orderType === 'tasking' ? new Map(groups.map(({ id, capturedCredits }) => [id, capturedCredits])) : null

/** Why groups were not delivered, or not wholly; null where all were. */
function reasonsOf({ groups }: Order): string | null {
  const reasons = groups.flatMap(({ failureReason }) => failureReason ?? [])
  return reasons.length > 0 ? [...new Set(reasons)].join('; ') : null
}

/** Nothing of it was delivered, and nothing is paid. The caller holds the order's row. */
async function fail(change: Change, current: Order, reason: string | null): Promise<Order> {
  await spending.release(change, current.organizationId, referenceOf(current))
  return (await orders.move(change, current, 'fail', { reason, more: { reason } })) ?? current
}

/** Ends what is left of an order with one reason, as when its hold was lost. What was delivered before stays and is not paid. */
export async function failAll(change: Change, id: string, reason: string): Promise<Order> {
  const current = await orders.lock(change.tx, id)
  for (const one of current.groups) await group.move(change.tx, one.id, 'fail', { failureReason: reason }, change.clock.now())
  return await fail(change, current, reason)
}

/** One group failed; perhaps it was the last. False: it was not in a state to fail from, so somebody else has moved it. */
export async function failGroup(change: Change, { id, orderId }: { id: string; orderId: string }, reason: string): Promise<boolean> {
  await orders.lock(change.tx, orderId)
  if (!(await group.move(change.tx, id, 'fail', { failureReason: reason }, change.clock.now()))) return false
  await concludeIfDone(change, orderId)
  return true
}

/** Cancels what can be. Null: the order is in no state to be cancelled from. */
export async function cancel(change: Change, id: string, reason: string | null): Promise<Order | null> {
  const { tx, clock } = change
  const current = await orders.lock(tx, id)
  if (!current.groups.every(({ status }) => isIn([...GROUP_MOVES.cancel.from, 'failed', 'cancelled'], status))) return null
  for (const one of current.groups) {
    if (one.status === 'deciding') await group.agree(tx, one.id, 'reject', {}, clock.now())
    await group.move(tx, one.id, 'cancel', {}, clock.now())
  }
  await orders.setSubStatus(tx, id, clock.now())
  const settlement = await spending.release(change, current.organizationId, referenceOf(current))
  return await orders.move(change, current, 'cancel', {
    reason,
    more: { released_credits: settlement?.releasedCredits ?? 0 },
  })
}

/**
 * One group of a tasking order is given up before it was agreed on. The last one takes the order with it. What had been set
 * aside for it stays set aside until the order ends, when it is not captured: a smaller hold would need the card again.
 */
export async function closeGroup(change: Change, { id, orderId }: { id: string; orderId: string }, reason: string): Promise<boolean> {
  const { tx, clock } = change
  await orders.lock(tx, orderId)
  if (!(await group.agree(tx, id, 'reject', {}, clock.now()))) return false
  await group.move(tx, id, 'cancel', { failureReason: reason }, clock.now())
  const { groups } = await orders.get(tx, orderId)
  if (groups.every(({ status }) => status === 'cancelled')) await cancel(change, orderId, reason)
  else await proceed(change, orderId)
  return true
}

/** Why an order can no longer be paid for, null where it can. */
export async function lostFunds(db: Parameters<typeof orders.get>[0], { id, organizationId, status }: Order): Promise<string | null> {
  if (status === 'pending') return null
  const standing = await spending.standingOf(db, organizationId, referenceOf({ id }))
  return standing?.state === 'live' ? null : HOLD_LOST
}
