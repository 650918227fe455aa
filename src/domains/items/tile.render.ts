import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { DATA_TILE_TYPE } from '#raster/encode/format.ts'
import { choiceOf, renderLayerTile, styleLayer } from '#services/rendering/styled-layer.ts'
import {
  FOR_A_DAY,
  FormatOrData,
  IMAGE_TYPES,
  styleFields,
  imageReply,
  Quality,
  requireTile,
  TileIndex,
  TileSize,
  Zoom,
} from '#wire/tile.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** One Web Mercator tile of an item, styled by a profile, bands or an expression, or in its default style. */
export default operation({
  id: 'items.tile.render',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  raw: 'bytes',
  mediaTypes: [...IMAGE_TYPES, DATA_TILE_TYPE],
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    z: Described(Zoom, 'Zoom level, 0 to 24'),
    x: Described(TileIndex, 'Tile column, counted from the west'),
    y: Described(TileIndex, 'Tile row, counted from the north'),
    format: Described(FormatOrData, 'Image format, or `bin` for the samples of the bands, which the guide on tiles describes'),
    ...styleFields,
    v: Type.Optional(Nullable(Type.Integer({ minimum: 1, description: 'Version of the profile, for caching' }))),
    quality: Described(Quality(82), 'Quality of lossy formats, 1 to 100'),
    tile_size: Described(TileSize, 'Tile width and height in pixels: 256, or 512 for high-density screens'),
  }),
  output: Type.Any(),
  example: { input: { item_id: EXAMPLE_ITEM.id, z: 12, x: 3767, y: 2445, format: 'webp', profile: 'ndvi' } },
}).handle({
  async check(context, input) {
    requireTile(input)
    const layer = await context.layers.requireReader(context.principal, input.item_id, choiceOf(input))
    return await styleLayer(context, layer, input)
  },
  auditSubject: ({ item_id }) => item_id,
  async execute(context, input, resolved) {
    return imageReply(await renderLayerTile(context, resolved, { ...input, format: input.format }), FOR_A_DAY)
  },
})
