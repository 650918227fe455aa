import * as groups from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import { withdrawTask } from '#model/orders/tasks.ts'
import { VendorError } from '#ports/vendors.ts'
import { task } from '#task.ts'
import { requestOf } from './request.lib.ts'

/** Cancels an order at the vendor that was cancelled here while it was being sent. Sending it again returns the vendor's order ID. */
export default task({ ...withdrawTask, concurrency: 2 }).handle(async ({ db, vendors, signal, baseUrl }, { group_id }) => {
  const group = await groups.find(db, group_id)
  if (group?.status !== 'cancelled') return
  const shop = vendors.shop(group.hostName)
  const { licenseType } = await orders.get(db, group.orderId)
  try {
    const { id } = await shop!.placeOrder(requestOf(group, licenseType, baseUrl), { signal })
    await shop!.cancelOrder(id, { signal })
  } catch (error) {
    // A vendor that refuses will not deliver; an unavailable one is retried.
    if (!(error instanceof VendorError) || error.code === 'unavailable' || error.code === 'timeout') throw error
  }
})
