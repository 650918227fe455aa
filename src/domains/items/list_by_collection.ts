import Type from 'typebox'
import { mapInParts } from '#core/in-parts.ts'
import { Closed, Described, Limit, Offset } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import * as items from '#model/imagery/item-read.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ITEM, ItemRecord, toRecord } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

const EXAMPLE_COLLECTION_ID = '0199f2c5-7a00-7d21-8c55-5b2e9d8f4a31'

/** The items of one collection, newest first. */
export default operation({
  id: 'items.list_by_collection',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    collection_id: Described(ItemId, 'Collection ID'),
    limit: Limit(100, 1000),
    offset: Offset,
  }),
  output: Closed({
    items: Type.Array(ItemRecord, { description: 'Items of this page' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: {
    input: { collection_id: EXAMPLE_COLLECTION_ID },
    output: { items: [{ ...EXAMPLE_ITEM, collection_id: EXAMPLE_COLLECTION_ID }], total: 1 },
  },
}).handle({
  async check({ db, principal }, { collection_id }) {
    return await collections.requireReader(db, principal, collection_id)
  },
  async execute({ db }, { limit, offset }, collection) {
    const { items: page, total } = await items.list(db, {
      organizationId: collection.organizationId,
      projectId: collection.projectId,
      collectionId: collection.id,
      limit,
      offset,
    })
    return { items: await mapInParts(page, toRecord), total }
  },
})
