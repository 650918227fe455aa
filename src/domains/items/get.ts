import { Closed } from '#core/shapes.ts'
import * as item from '#model/imagery/item-read.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ITEM, ItemRecord, toRecord } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** One item by its id. */
export default operation({
  id: 'items.get',
  scope: 'items:read',
  tier: 'read',
  input: Closed({ item_id: ItemId }),
  output: Closed({ item: ItemRecord }),
  example: { input: { item_id: EXAMPLE_ITEM.id }, output: { item: EXAMPLE_ITEM } },
}).handle({
  async check({ db, principal }, { item_id }) {
    return await item.requireReader(db, principal, item_id)
  },
  async execute(_context, _input, found) {
    return { item: toRecord(found.item) }
  },
})
