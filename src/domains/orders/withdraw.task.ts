import * as groups from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import * as quotations from '#model/orders/quotation.ts'
import * as studies from '#model/orders/study.ts'
import { withdrawTask } from '#model/orders/tasks.ts'
import { VendorError } from '#ports/vendors/call.ts'
import { task } from '#task.ts'
import { requestOf } from './request.lib.ts'
import { shopOf } from './vendor.lib.ts'

/** Cancels an order at the vendor that was cancelled here while it was being sent, and declines what was studied or quoted for it. */
export default task({ ...withdrawTask, concurrency: 2 }).handle(async ({ db, vendors, signal, baseUrl, operatorLog }, { group_id }) => {
  const group = await groups.find(db, group_id)
  if (group?.status !== 'cancelled') return
  const order = await orders.get(db, group.orderId)
  try {
    const shop = shopOf(vendors, group)
    const placed = await shop.findOrder(requestOf(group, order, baseUrl), { signal })
    if (placed) return void (await shop.cancelOrder(placed.id, { signal }))
    const [study, quotation] = [await studies.ofGroup(db, group.id), await quotations.ofGroup(db, group.id)]
    const first = study ?? quotation
    // The response to the first request can have been lost.
    const terms = quotation?.vendorId ?? study?.vendorId ?? (first && (await shop.findTerms?.(first.id, { signal })))
    if (terms) await shop.declineTerms?.(terms, { signal })
  } catch (error) {
    // A vendor that is unavailable or does not accept the credential now is asked again.
    if (!(error instanceof VendorError) || ['unavailable', 'timeout', 'unauthorized'].includes(error.code)) throw error
    operatorLog.warn(`Order ${order.id} was cancelled while it was sent, and the vendor keeps it: ${error.message}`)
  }
})
