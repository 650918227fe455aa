import { problem } from '#core/problem.ts'
import { Choice, Closed } from '#core/shapes.ts'
import { isIn, ORDER_STATUSES } from '#core/vocabulary.ts'
import * as settlement from '#model/orders/settlement.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import { ORDER_MOVES } from '#model/orders/states.ts'
import { callVendor } from '#model/orders/vendor-problem.ts'
import { operation, type Context } from '#operation.ts'
import { requestOf } from './request.lib.ts'
import { shopOf } from './vendor.lib.ts'
import { EXAMPLE_ORDER, IdOf, OrderId } from './wire.ts'

/** Cancels an order that no vendor has accepted yet, and releases its reservation. */
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
  async check(_context, _input, order) {
    if (!isIn(ORDER_MOVES.cancel.from, order.status)) throw tooLate(order)
    return order
  },
  prepare: async (context, _input, order) => await withdraw(context, order),
  async execute(context, _input, order) {
    context.attributeTo(order.organizationId)
    const cancelled = await settlement.cancel(context, order.id, null)
    if (!cancelled) throw tooLate(await orders.get(context.tx, order.id))
    return { orderId: cancelled.id, status: cancelled.status }
  },
})

const tooLate = ({ status }: Order) =>
  problem('bad-request', `This order is ${status}; only ${ORDER_MOVES.cancel.from.join(' and ')} orders can be cancelled`)

/**
 * Cancels at the vendors before anything is released: an order that a vendor has accepted will be delivered. All are checked
 * before the first is cancelled, so that no order is cancelled in part.
 */
async function withdraw(context: Context, order: Order): Promise<void> {
  const { vendors, signal } = context
  const isFinal = ({ hostName }: Group) => vendors.source(hostName)?.isCancellable === false
  for (const group of order.groups.filter(isFinal)) await requireUnsent(context, order, group)
  const placed = order.groups.flatMap((group) =>
    group.status === 'placed' && group.vendorOrderId ? [{ group, vendorOrderId: group.vendorOrderId }] : [],
  )
  await callVendor(async () => {
    for (const { group, vendorOrderId } of placed) {
      const { status } = await shopOf(vendors, group).order(vendorOrderId, { signal })
      if (status !== 'placed' && status !== 'cancelled')
        throw problem('bad-request', `'${group.hostName}' has already accepted this order, so it can no longer be cancelled`)
    }
    for (const { group, vendorOrderId } of placed) await shopOf(vendors, group).cancelOrder(vendorOrderId, { signal })
  })
}

/** A vendor that cancels nothing must not have the order yet, not even one whose response was lost. */
async function requireUnsent({ db, clock, vendors, signal, baseUrl }: Context, order: Order, group: Group): Promise<void> {
  const final = () => problem('bad-request', `'${group.hostName}' does not cancel orders, and has this one already`)
  if (group.status === 'placed') throw final()
  if (group.status !== 'waiting') return
  if (await groups.isBeingPlaced(db, group.id, clock.now()))
    throw problem('bad-request', `This order is being sent to '${group.hostName}', which does not cancel orders`)
  if (group.attempts === 0) return
  if (await callVendor(() => shopOf(vendors, group).findOrder(requestOf(group, order, baseUrl), { signal }))) throw final()
}
