/**
 * How orders end and are settled, in one transaction. An order ends with its last group. If anything was delivered, the order is
 * fulfilled: what was delivered is captured and the rest released. Otherwise it has failed and everything is released. Callers lock
 * the order's row, so that two groups that end concurrently cannot both miss being the last.
 */
import { isIn } from '#core/vocabulary.ts'
import type { Change } from '#effects.ts'
import * as spending from '#model/money/spending.ts'
import { proceed } from './tasking-decisions.ts'
import * as groups from './order-group.ts'
import * as orders from './order.ts'
import { referenceOf, type Order } from './order.ts'
import { DELIVERED_STATUSES, ENDED_STATUSES, GROUP_MOVES } from './states.ts'
import { withdrawTask } from './tasks.ts'

const HOLD_LOST = 'The card hold was lost before delivery, so nothing could be charged'

/** Ends the order if all its groups have ended. The caller has locked the order's row. */
export async function concludeIfDone(change: Change, id: string): Promise<Order> {
  const current = await orders.get(change.tx, id)
  if (!current.groups.every(({ status }) => isIn(ENDED_STATUSES, status))) return current
  const delivered = current.groups.filter(({ status }) => isIn(DELIVERED_STATUSES, status))
  if (delivered.length === 0) return await fail(change, current, reasonsOf(current))
  const accepted = (await orders.move(change, current, 'accept')) ?? current
  const owed = delivered.reduce((sum, { capturedCredits }) => sum + capturedCredits, 0)
  const settlement = await spending.capture(change, current.organizationId, referenceOf(current), owed, partsOf(current))
  if (!settlement) throw new Error(`order ${id} was delivered but has no live reservation`)
  const fulfilled = await orders.move(change, accepted, 'fulfil', {
    reason: reasonsOf(current),
    capturedCredits: settlement.capturedCredits,
    more: { item_ids: orders.itemIdsOf(current), captured_credits: settlement.capturedCredits },
  })
  return fulfilled ?? accepted
}

/** Credits owed per group, for orders whose groups were accepted one by one. */
const partsOf = (order: Order): Map<string, number> | null =>
  order.orderType === 'tasking' ? new Map(order.groups.map(({ id, capturedCredits }) => [id, capturedCredits])) : null

/** Why groups were not delivered or only in part; null if all were delivered. */
function reasonsOf(order: Order): string | null {
  const reasons = order.groups.flatMap(({ failureReason }) => failureReason ?? [])
  return reasons.length > 0 ? [...new Set(reasons)].join('; ') : null
}

/** Nothing was delivered, so nothing is charged. The caller has locked the order's row. */
async function fail(change: Change, current: Order, reason: string | null): Promise<Order> {
  await spending.release(change, current.organizationId, referenceOf(current))
  return (await orders.move(change, current, 'fail', { reason, more: { reason } })) ?? current
}

/** Fails all open groups for one reason, for example a lost card hold. What was delivered stays and is not charged. */
export async function failAll(change: Change, id: string, reason: string): Promise<Order> {
  const current = await orders.lock(change.tx, id)
  for (const group of current.groups) await groups.move(change.tx, group.id, 'fail', { failureReason: reason }, change.clock.now())
  return await fail(change, current, reason)
}

/** Fails one group, and the order if it was the last. Returns false if a concurrent change moved it to another state. */
export async function failGroup(change: Change, { id, orderId }: { id: string; orderId: string }, reason: string): Promise<boolean> {
  await orders.lock(change.tx, orderId)
  if (!(await groups.move(change.tx, id, 'fail', { failureReason: reason }, change.clock.now()))) return false
  await concludeIfDone(change, orderId)
  return true
}

/** Returns null if the order is in a state that cannot be cancelled. */
export async function cancel(change: Change, id: string, reason: string | null): Promise<Order | null> {
  const { tx, clock } = change
  const current = await orders.lock(tx, id)
  if (!current.groups.every(({ status }) => isIn([...GROUP_MOVES.cancel.from, 'failed', 'cancelled'], status))) return null
  for (const group of current.groups) {
    if (group.status === 'deciding') await groups.agree(tx, group.id, 'reject', {}, clock.now())
    const isMoved = await groups.move(tx, group.id, 'cancel', {}, clock.now())
    if (isMoved && current.orderType === 'tasking') await change.tasks.enqueue(withdrawTask, { group_id: group.id })
  }
  await orders.setSubStatus(tx, id, clock.now())
  const settlement = await spending.release(change, current.organizationId, referenceOf(current))
  return await orders.move(change, current, 'cancel', {
    reason,
    more: { released_credits: settlement?.releasedCredits ?? 0 },
  })
}

/**
 * Cancels one group of a tasking order before it was accepted; the last one cancels the order. Its part of the reservation stays until
 * the order ends and is then not captured, because reducing a card hold would need another authorization.
 */
export async function closeGroup(change: Change, { id, orderId }: { id: string; orderId: string }, reason: string): Promise<boolean> {
  const { tx, clock } = change
  await orders.lock(tx, orderId)
  if (!(await groups.agree(tx, id, 'reject', {}, clock.now()))) return false
  await groups.move(tx, id, 'cancel', { failureReason: reason }, clock.now())
  await change.tasks.enqueue(withdrawTask, { group_id: id })
  const order = await orders.get(tx, orderId)
  if (order.groups.every(({ status }) => status === 'cancelled')) await cancel(change, orderId, reason)
  else await proceed(change, orderId)
  return true
}

/** Why an order can no longer be charged; null if it can. */
export async function lostFunds(db: Parameters<typeof orders.get>[0], { id, organizationId, status }: Order): Promise<string | null> {
  if (status === 'pending') return null
  const standing = await spending.standingOf(db, organizationId, referenceOf({ id }))
  return standing?.state === 'live' ? null : HOLD_LOST
}
