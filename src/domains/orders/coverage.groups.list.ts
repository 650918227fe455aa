import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { coverageOf, itemsOf } from '#model/orders/delivered.ts'
import * as orders from '#model/orders/order.ts'
import { operation } from '#operation.ts'
import { Coverage, EXAMPLE_COVERAGE } from './coverage.wire.ts'
import { EXAMPLE_GROUP_ID, EXAMPLE_ORDER, IdOf, OrderId } from './wire.ts'

/** How much of the area of each group of an order has been delivered. */
export default operation({
  id: 'orders.coverage.groups.list',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({ order_id: OrderId }),
  output: Closed({
    groups: Type.Array(Closed({ groupId: IdOf('Order group ID'), ...Coverage }), {
      description: 'Coverage of each order group',
    }),
  }),
  example: { input: { order_id: EXAMPLE_ORDER.id }, output: { groups: [{ groupId: EXAMPLE_GROUP_ID, ...EXAMPLE_COVERAGE }] } },
}).handle({
  check: async ({ db, principal }, { order_id }) => await orders.requireReader(db, principal, order_id),
  async execute({ db, overlays }, _input, found) {
    const items = await itemsOf(db, found.organizationId, orders.itemIdsOf(found))
    const groups = []
    for (const { id, area, itemIds } of found.groups) {
      const own = items.filter((item) => itemIds.includes(item.id))
      groups.push({ groupId: id, ...(await coverageOf({ overlays }, found.organizationId, area, own)) })
    }
    return { groups }
  },
})
