import Type from 'typebox'
import { Closed, Described } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import * as items from '#model/imagery/item-read.ts'
import { operation } from '#operation.ts'
import { AssetRecord, EXAMPLE_ASSET, EXAMPLE_ITEM, toAsset } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** The assets of one item, the primary one first. */
export default operation({
  id: 'items.list_assets',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ item_id: Described(ItemId, 'Item ID') }),
  output: Type.Array(AssetRecord, { description: 'Files of the item' }),
  example: { input: { item_id: EXAMPLE_ITEM.id }, output: [EXAMPLE_ASSET] },
}).handle({
  async check({ db, principal }, { item_id }) {
    return await items.requireReader(db, principal, item_id)
  },
  async execute({ db, baseUrl }, _input, { item }) {
    return (await assets.list(db, item.seq)).map((asset) => toAsset(asset, item.id, baseUrl))
  },
})
