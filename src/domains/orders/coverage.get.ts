import { unionOf } from '#core/overlay.ts'
import { Closed } from '#core/shapes.ts'
import { coverageOf, itemsOf } from '#model/orders/delivered.ts'
import * as order from '#model/orders/order.ts'
import { operation } from '#operation.ts'
import { Coverage, EXAMPLE_COVERAGE } from './coverage.wire.ts'
import { EXAMPLE_ORDER, OrderId } from './wire.ts'

/** How much of the area of an order has been delivered. */
export default operation({
  id: 'orders.coverage.get',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({ order_id: OrderId }),
  output: Closed(Coverage),
  example: { input: { order_id: EXAMPLE_ORDER.id }, output: EXAMPLE_COVERAGE },
}).handle({
  check: async ({ db, principal }, { order_id }) => await order.requireReader(db, principal, order_id),
  async execute({ db }, _input, found) {
    const items = await itemsOf(db, found.organizationId, order.itemIdsOf(found))
    return coverageOf(unionOf(found.groups.map(({ area }) => area))!, items)
  },
})
