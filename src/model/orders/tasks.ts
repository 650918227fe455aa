/** Background work that orders queue; its handlers are in `domains/orders`. */
import { Closed, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

const OfGroup = Closed({ group_id: Uuid })

/** Asks the vendor for the study or the quotation that a group waits for. */
export const askVendorTask = taskContract('orders.ask', OfGroup)
/** Sends a group to its vendor. */
export const placeAtVendorTask = taskContract('orders.place', OfGroup)
/** Looks at how an order fares, and arranges for the next look. */
export const pollTask = taskContract('orders.poll', Closed({ order_id: Uuid }))
/** Fetches what the vendor delivered. */
export const deliverTask = taskContract('orders.deliver', OfGroup)
/** Takes an order back at the vendor's that was cancelled here while it was being sent. */
export const withdrawTask = taskContract('orders.withdraw', Closed({ group_id: Uuid }))
