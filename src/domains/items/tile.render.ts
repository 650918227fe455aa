import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { choiceOf, drawTile, resolveLook } from '#services/drawing/look.ts'
import {
  FOR_A_DAY,
  FormatOrWebp,
  IMAGE_TYPES,
  lookFields,
  pictureReply,
  Quality,
  requireTile,
  TileIndex,
  TileSize,
  Zoom,
} from '#wire/tile.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** One Web Mercator tile of an item: by a profile, by bands or an expression, or as the item is shown by default. */
export default operation({
  id: 'items.tile.render',
  scope: 'items:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({
    item_id: ItemId,
    z: Zoom,
    x: TileIndex,
    y: TileIndex,
    format: FormatOrWebp,
    ...lookFields,
    v: Type.Optional(Nullable(Type.Integer({ minimum: 1, description: 'The version of the saved profile that the address was made for' }))),
    quality: Quality(82),
    tile_size: TileSize,
  }),
  output: Type.Any(),
  example: { input: { item_id: EXAMPLE_ITEM.id, z: 12, x: 3767, y: 2445, format: 'webp', profile: 'ndvi' } },
}).handle({
  async check(context, input) {
    requireTile(input)
    const layer = await context.layers.requireReader(context.principal, input.item_id, choiceOf(input))
    return await resolveLook(context, layer, input)
  },
  async execute(context, input, resolved) {
    return pictureReply(await drawTile(context, resolved, { ...input, format: input.format }), FOR_A_DAY)
  },
})
