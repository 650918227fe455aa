import * as groups from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import { withdrawTask } from '#model/orders/tasks.ts'
import { VendorError } from '#ports/vendors.ts'
import { task } from '#task.ts'
import { requestOf } from './request.lib.ts'

/** Takes an order back at the vendor's that was cancelled here while it was being sent. Sending it again tells its name there. */
export default task({ ...withdrawTask, concurrency: 2 }).handle(async ({ db, vendors, signal, baseUrl }, { group_id }) => {
  const found = await groups.find(db, group_id)
  if (found?.status !== 'cancelled') return
  const shop = vendors.shop(found.hostName)
  const { licenseType } = await orders.get(db, found.orderId)
  try {
    const { id } = await shop!.placeOrder(requestOf(found, licenseType, baseUrl), { signal })
    await shop!.cancelOrder(id, { signal })
  } catch (error) {
    // A vendor that refuses will deliver to nobody; one that is away is asked again.
    if (!(error instanceof VendorError) || error.code === 'unavailable' || error.code === 'timeout') throw error
  }
})
