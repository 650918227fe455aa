import { problem } from '#core/problem.ts'
import { Choice, Closed } from '#core/shapes.ts'
import { isIn, ORDER_STATUSES } from '#core/vocabulary.ts'
import * as ending from '#model/orders/ending.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import { ORDER_MOVES } from '#model/orders/states.ts'
import { callVendor } from '#model/orders/vendor-problem.ts'
import { operation, type Context } from '#operation.ts'
import { EXAMPLE_ORDER, IdOf, OrderId } from './wire.ts'

/** Cancels an order that no vendor has taken on yet, and gives back what was reserved for it. */
export default operation({
  id: 'orders.cancel',
  scope: 'orders:write',
  tier: 'external_spend',
  idempotent: true,
  events: ['order.cancelled'],
  input: Closed({ id: OrderId }),
  output: Closed(
    {
      orderId: IdOf('Order ID'),
      status: Choice(ORDER_STATUSES, { description: 'Status of the order, always `cancelled`' }),
    },
    { description: 'The cancelled order' },
  ),
  example: { input: { id: EXAMPLE_ORDER.id }, output: { orderId: EXAMPLE_ORDER.id, status: 'cancelled' } },
}).handle({
  permit: ({ db, principal }, { id }) => orders.requireBuyer(db, principal, id),
  async check(_context, _input, found) {
    if (!isIn(ORDER_MOVES.cancel.from, found.status)) throw tooLate(found)
    return found
  },
  prepare: async (context, _input, found) => await withdraw(context, found),
  async execute(context, _input, found) {
    context.attributeTo(found.organizationId)
    const cancelled = await ending.cancel(context, found.id, null)
    if (!cancelled) throw tooLate(await orders.get(context.tx, found.id))
    return { orderId: cancelled.id, status: cancelled.status }
  },
})

const tooLate = ({ status }: Order) =>
  problem('bad-request', `This order is ${status}; only ${ORDER_MOVES.cancel.from.join(' and ')} orders can be cancelled`)

/**
 * The vendors are asked before anything is given back: an order that one of them has taken on is theirs to fulfil. All are
 * looked at before the first is told, so that none is cancelled in part.
 */
async function withdraw({ vendors, signal }: Context, { groups }: Order): Promise<void> {
  const placed = groups.flatMap((group) =>
    group.status === 'placed' && group.vendorOrderId ? [{ ...group, there: group.vendorOrderId }] : [],
  )
  const shopOf = (hostName: string) => vendors.shop(hostName)!
  await callVendor(async () => {
    for (const { hostName, there } of placed) {
      const { status } = await shopOf(hostName).order(there, { signal })
      if (status !== 'placed' && status !== 'cancelled')
        throw problem('bad-request', `'${hostName}' has taken this order on already, so it can no longer be cancelled`)
    }
    for (const { hostName, there } of placed) await shopOf(hostName).cancelOrder(there, { signal })
  })
}
