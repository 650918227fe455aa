import type { Change } from '#effects.ts'
import { failGroup } from '#model/orders/ending.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import { placeAtVendorTask, withdrawTask } from '#model/orders/tasks.ts'
import { task, type TaskContext } from '#task.ts'
import { requestOf } from './request.lib.ts'
import { retryAtVendor } from './vendor.lib.ts'

/** Sends a group of an order to its vendor. */
export default task({
  ...placeAtVendorTask,
  events: ['order.being_fulfilled', 'order.fulfilled', 'order.failed'],
  concurrency: 4,
}).handle(async (context, { group_id }) => {
  const group = await groups.find(context.db, group_id)
  if (group?.status !== 'waiting') return
  await retryAtVendor(context, group, placeAtVendorTask, {
    send: async () => await place(context, group),
    giveUp: async (change: Change, reason: string) => await failGroup(change, group, reason),
  })
})

/** An order that was cancelled while it was being sent is withdrawn at the vendor. */
async function place({ db, clock, vendors, tasks, signal, baseUrl }: TaskContext, group: Group): Promise<void> {
  const { licenseType } = await orders.get(db, group.orderId)
  const placed = await vendors.shop(group.hostName)!.placeOrder(requestOf(group, licenseType, baseUrl), { signal })
  await db.transaction().execute(async (tx) => {
    if (await groups.move(tx, group.id, 'place', { vendorOrderId: placed.id }, clock.now())) return
    const current = await groups.find(tx, group.id)
    if (current?.status === 'cancelled') await tasks(tx).enqueue(withdrawTask, { group_id: group.id })
  })
}
