import { Closed } from '#core/shapes.ts'
import * as orders from '#model/orders/order.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ORDER, OrderId, OrderRecord, toRecord } from './wire.ts'

/** Returns an order with its groups and its history. */
export default operation({
  id: 'orders.get',
  scope: 'orders:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ id: OrderId }),
  output: OrderRecord,
  example: { input: { id: EXAMPLE_ORDER.id }, output: EXAMPLE_ORDER },
}).handle({
  check: async ({ db, principal }, { id }) => await orders.requireReader(db, principal, id),
  execute: async (_context, _input, order) => toRecord(order),
})
