/** Tasks that orders enqueue; their handlers are in `domains/orders`. */
import { Closed, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

const OfGroup = Closed({ group_id: Uuid })

/** Requests the study or quotation that a group waits for from its vendor. */
export const requestFromVendorTask = taskContract('orders.ask', OfGroup)
/** Sends a group to its vendor. */
export const placeAtVendorTask = taskContract('orders.place', OfGroup)
/** Polls the status of an order, and schedules the next poll. */
export const pollTask = taskContract('orders.poll', Closed({ order_id: Uuid }))
/** Fetches the delivered data. */
export const deliverTask = taskContract('orders.deliver', OfGroup)
/** Cancels an order at the vendor that was cancelled here while it was being sent, and declines what was studied or quoted for it. */
export const withdrawTask = taskContract('orders.withdraw', Closed({ group_id: Uuid }))
