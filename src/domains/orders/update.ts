import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import * as orders from '#model/orders/order.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ORDER, OrderId, OrderRecord, Tags, toRecord } from './wire.ts'

/** Replaces an order's tags, the only field that can change. Null clears them; if omitted, they stay. */
export default operation({
  id: 'orders.update',
  scope: 'orders:write',
  tier: 'compute',
  input: Closed({ order_id: OrderId, tags: Type.Optional(Nullable(Tags)) }),
  output: OrderRecord,
  example: { input: { order_id: EXAMPLE_ORDER.id, tags: ['flood'] }, output: { ...EXAMPLE_ORDER, tags: ['flood'] } },
}).handle({
  check: async ({ db, principal }, { order_id }) => await orders.requireBuyer(db, principal, order_id),
  async execute({ tx, clock, attributeTo }, { tags }, order) {
    attributeTo(order.organizationId)
    return toRecord(tags === undefined ? order : await orders.setTags(tx, order.id, [...new Set(tags ?? [])], clock.now()))
  },
})
