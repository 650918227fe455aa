import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import { itemsOf } from '#model/orders/delivered.ts'
import * as orders from '#model/orders/order.ts'
import { operation } from '#operation.ts'
import { AssetRecord, EXAMPLE_ASSET, toAsset } from '#wire/item.ts'
import { EXAMPLE_ORDER, OrderId } from './wire.ts'

/** Lists the files that an order has delivered so far, by item. */
export default operation({
  id: 'orders.list_assets',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ order_id: OrderId }),
  output: Type.Array(AssetRecord, { description: 'Files delivered by the order' }),
  example: { input: { order_id: EXAMPLE_ORDER.id }, output: [EXAMPLE_ASSET] },
}).handle({
  check: async ({ db, principal }, { order_id }) => await orders.requireReader(db, principal, order_id),
  async execute({ db, baseUrl }, _input, order) {
    const items = await itemsOf(db, order.organizationId, orders.itemIdsOf(order))
    const assetsByItem = await assets.listOf(
      db,
      items.map(({ seq }) => seq),
    )
    return items.flatMap(({ seq, id }) => assetsByItem.get(seq)!.map((asset) => toAsset(asset, id, baseUrl)))
  },
})
