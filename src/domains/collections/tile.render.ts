import Type from 'typebox'
import { Closed, Described } from '#core/shapes.ts'
import * as collections from '#model/imagery/collection.ts'
import { operation } from '#operation.ts'
import { renderCollectionTile, rejectSavedProfile } from '#services/rendering/collection.ts'
import { choiceOf } from '#services/rendering/styled-layer.ts'
import { FormatOrWebp, IMAGE_TYPES, styleFields, imageReply, Quality, requireTile, TileIndex, TileSize, Zoom } from '#wire/tile.ts'
import { EXAMPLE_COLLECTION } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** Shorter than for an item, because the items of a collection change. */
const FOR_MINUTES = 'private, max-age=300'

/** One tile of a collection as a layer: the newest items on top, at most 32 per tile. */
export default operation({
  id: 'collections.tile.render',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({
    collection_id: Described(ItemId, 'Collection ID'),
    z: Described(Zoom, 'Zoom level, 0 to 24'),
    x: Described(TileIndex, 'Tile column, counted from the west'),
    y: Described(TileIndex, 'Tile row, counted from the north'),
    format: Described(FormatOrWebp, 'Image format'),
    ...styleFields,
    quality: Described(Quality(82), 'Quality of lossy formats, 1 to 100'),
    tile_size: Described(TileSize, 'Tile width and height in pixels: 256, or 512 for high-density screens'),
  }),
  output: Type.Any(),
  example: { input: { collection_id: EXAMPLE_COLLECTION.id, z: 12, x: 3767, y: 2445, format: 'webp' } },
}).handle({
  async check({ db, principal }, input) {
    requireTile(input)
    rejectSavedProfile(input)
    choiceOf(input)
    return await collections.requireReader(db, principal, input.collection_id)
  },
  auditSubject: ({ collection_id }) => collection_id,
  async execute(context, input, collection) {
    return imageReply(await renderCollectionTile(context, collection, { ...input, format: input.format }), FOR_MINUTES)
  },
})
