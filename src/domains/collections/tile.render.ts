import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as collection from '#model/imagery/collection.ts'
import { operation } from '#operation.ts'
import { drawCollectionTile, requireShared } from '#services/drawing/collection.ts'
import { choiceOf } from '#services/drawing/look.ts'
import { FormatOrWebp, IMAGE_TYPES, lookFields, pictureReply, Quality, requireTile, TileIndex, TileSize, Zoom } from '#wire/tile.ts'
import { EXAMPLE_COLLECTION } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Shorter than an item's: items come and go. */
const FOR_MINUTES = 'private, max-age=300'

/** One tile of a collection as a layer: its items by date, the newest on top, at most 32 of them in a tile. */
export default operation({
  id: 'collections.tile.render',
  scope: 'items:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({
    collection_id: ItemId,
    z: Zoom,
    x: TileIndex,
    y: TileIndex,
    format: FormatOrWebp,
    ...lookFields,
    quality: Quality(82),
    tile_size: TileSize,
  }),
  output: Type.Any(),
  example: { input: { collection_id: EXAMPLE_COLLECTION.id, z: 12, x: 3767, y: 2445, format: 'webp' } },
}).handle({
  async check({ db, principal }, input) {
    requireTile(input)
    requireShared(input)
    choiceOf(input)
    return await collection.requireReader(db, principal, input.collection_id)
  },
  async execute(context, input, found) {
    return pictureReply(await drawCollectionTile(context, found, { ...input, format: input.format }), FOR_MINUTES)
  },
})
