import { Closed } from '#core/shapes.ts'
import { coverageOf, itemsOf } from '#model/orders/delivered.ts'
import * as orders from '#model/orders/order.ts'
import { operation } from '#operation.ts'
import { Coverage, EXAMPLE_COVERAGE } from './coverage.wire.ts'
import { EXAMPLE_ORDER, OrderId } from './wire.ts'

/** Returns how much of an order's area has been delivered. */
export default operation({
  id: 'orders.coverage.get',
  scope: 'orders:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ order_id: OrderId }),
  output: Closed(Coverage, { description: 'Delivered and missing area of the order' }),
  example: { input: { order_id: EXAMPLE_ORDER.id }, output: EXAMPLE_COVERAGE },
}).handle({
  check: async ({ db, principal }, { order_id }) => await orders.requireReader(db, principal, order_id),
  async execute({ db, overlays }, _input, order) {
    const { organizationId } = order
    const items = await itemsOf(db, organizationId, orders.itemIdsOf(order))
    const areas = order.groups.map(({ area }) => area)
    const whole = await overlays.union(areas, { organizationId, field: 'order_id' })
    return await coverageOf({ overlays }, organizationId, whole!, items)
  },
})
