import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { coverageOf, itemsOf } from '#model/orders/delivered.ts'
import * as orders from '#model/orders/order.ts'
import { operation } from '#operation.ts'
import { Coverage, EXAMPLE_COVERAGE } from './coverage.wire.ts'
import { EXAMPLE_GROUP_ID, EXAMPLE_ORDER, IdOf, OrderId } from './wire.ts'

/** Returns how much of the area of each order group has been delivered. */
export default operation({
  id: 'orders.coverage.groups.list',
  scope: 'orders:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ order_id: OrderId }),
  output: Closed({
    groups: Type.Array(Closed({ groupId: IdOf('Order group ID'), ...Coverage }), {
      description: 'Coverage of each order group',
    }),
  }),
  example: { input: { order_id: EXAMPLE_ORDER.id }, output: { groups: [{ groupId: EXAMPLE_GROUP_ID, ...EXAMPLE_COVERAGE }] } },
}).handle({
  check: async ({ db, principal }, { order_id }) => await orders.requireReader(db, principal, order_id),
  async execute({ db, overlays }, _input, order) {
    const items = await itemsOf(db, order.organizationId, orders.itemIdsOf(order))
    const groups = []
    for (const { id, area, itemIds } of order.groups) {
      const delivered = items.filter((item) => itemIds.includes(item.id))
      groups.push({ groupId: id, ...(await coverageOf({ overlays }, order.organizationId, area, delivered)) })
    }
    return { groups }
  },
})
