import type { Change } from '#effects.ts'
import { failGroup } from '#model/orders/ending.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import { placeAtVendorTask, withdrawTask } from '#model/orders/tasks.ts'
import { task, type TaskContext } from '#task.ts'
import { requestOf } from './request.lib.ts'
import { tryAtVendor } from './vendor.lib.ts'

/** Sends a group of an order to its vendor. */
export default task({
  ...placeAtVendorTask,
  events: ['order.being_fulfilled', 'order.fulfilled', 'order.failed'],
  concurrency: 4,
}).handle(async (context, { group_id }) => {
  const found = await groups.find(context.db, group_id)
  if (found?.status !== 'waiting') return
  await tryAtVendor(context, found, placeAtVendorTask, {
    ask: async () => await place(context, found),
    giveUp: async (change: Change, reason: string) => await failGroup(change, found, reason),
  })
})

/** An order that was cancelled while it was being sent is taken back: the vendor has it, and we no longer want it. */
async function place({ db, clock, vendors, tasks, signal, baseUrl }: TaskContext, found: Group): Promise<void> {
  const { licenseType } = await orders.get(db, found.orderId)
  const placed = await vendors.shop(found.hostName)!.placeOrder(requestOf(found, licenseType, baseUrl), { signal })
  await db.transaction().execute(async (tx) => {
    if (await groups.move(tx, found.id, 'place', { vendorOrderId: placed.id }, clock.now())) return
    const now = await groups.find(tx, found.id)
    if (now?.status === 'cancelled') await tasks(tx).enqueue(withdrawTask, { group_id: found.id })
  })
}
