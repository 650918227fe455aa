import { startHeartbeat } from '#core/heartbeat.ts'
import type { Change } from '#effects.ts'
import { failGroup } from '#model/orders/settlement.ts'
import * as groups from '#model/orders/order-group.ts'
import type { PlacingRun } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import { placeAtVendorTask, withdrawTask } from '#model/orders/tasks.ts'
import { task, type TaskContext } from '#task.ts'
import { requestOf } from './request.lib.ts'
import { retryAtVendor, shopOf } from './vendor.lib.ts'

/** Sends a group of an order to its vendor. */
export default task({
  ...placeAtVendorTask,
  events: ['order.being_fulfilled', 'order.fulfilled', 'order.failed'],
  concurrency: 4,
}).handle(async (context, { group_id }) => {
  const { db, clock, signal } = context
  const leaseMs = await leaseOf(context, group_id)
  const run = await groups.claimPlacing(db, group_id, clock.now(), leaseMs)
  if (!run) return
  const beat = () => groups.keepPlacing(db, run, clock.now(), leaseMs)
  const heartbeat = startHeartbeat({ signal, firstStep: 'place', beat, aloneAfterMs: groups.ALONE_MS })
  try {
    await retryAtVendor(context, run, placeAtVendorTask, {
      send: async () => await place({ ...context, signal: heartbeat.signal }, run),
      giveUp: async (change: Change, reason: string) => await failGroup(change, run, reason),
    })
  } finally {
    await heartbeat.stop()
    await groups.endPlacing(db, run)
  }
})

const MAX_LEASE_MS = 30_000

/**
 * When another run may take over from one that died. It looks for the order at the vendor first, which may take as long to show an order
 * as it wants us to wait between polls.
 */
async function leaseOf({ db, vendors }: TaskContext, groupId: string): Promise<number> {
  const group = await groups.find(db, groupId)
  const shownMs = (vendors.source(group?.hostName ?? '')?.poll.minSeconds ?? 0) * 1_000
  return Math.min(MAX_LEASE_MS, Math.max(groups.SILENT_MS, shownMs))
}

/** Orders are sent at once. One that was not can be from a backup, whose database does not know what was tried after it. */
const SENT_MS = 10 * 60_000

/** An order that was cancelled while it was being sent is withdrawn at the vendor. */
async function place({ db, clock, vendors, tasks, signal, baseUrl }: TaskContext, group: PlacingRun): Promise<void> {
  const order = await orders.get(db, group.orderId)
  const isFirstAttempt = group.isFirst && clock.now().getTime() - order.updatedAt.getTime() < SENT_MS
  const placed = await shopOf(vendors, group).placeOrder({ ...requestOf(group, order, baseUrl), isFirstAttempt }, { signal })
  await db.transaction().execute(async (tx) => {
    if (await groups.move(tx, group.id, 'place', { vendorOrderId: placed.id }, clock.now())) return
    const current = await groups.find(tx, group.id)
    if (current?.status === 'cancelled') await tasks(tx).enqueue(withdrawTask, { group_id: group.id })
  })
}
