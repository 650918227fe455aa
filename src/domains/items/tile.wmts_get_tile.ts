import Type from 'typebox'
import { Choice, Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import { Grid, WMTS_FORMATS } from '#wire/wmts.ts'
import { operation } from '#operation.ts'
import { choiceOf, renderLayerTile, styleLayer } from '#services/rendering/styled-layer.ts'
import { FOR_A_DAY, IMAGE_TYPES, styleFields, imageReply, requireTile, TileIndex, Zoom } from '#wire/tile.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** A tile for WMTS clients; transparent where there is no data. */
export default operation({
  id: 'items.tile.wmts_get_tile',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  raw: 'bytes',
  mediaTypes: IMAGE_TYPES,
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    z: Described(Zoom, 'Zoom level, 0 to 24'),
    x: Described(TileIndex, 'Tile column, counted from the west'),
    y: Described(TileIndex, 'Tile row, counted from the north'),
    profile: styleFields.profile,
    asset_key: styleFields.asset_key,
    format: Defaulted(Choice(WMTS_FORMATS), 'webp', { description: 'Tile image format' }),
    grid: Type.Optional(Nullable(Grid)),
  }),
  output: Type.Any(),
  example: { input: { item_id: EXAMPLE_ITEM.id, z: 12, x: 3767, y: 2445 } },
}).handle({
  async check(context, input) {
    if (!input.grid) requireTile(input)
    const layer = await context.layers.requireReader(context.principal, input.item_id, choiceOf(input))
    return await styleLayer(context, layer, input)
  },
  auditSubject: ({ item_id }) => item_id,
  async execute(context, { z, x, y, format, grid }, resolved) {
    return imageReply(await renderLayerTile(context, resolved, { z, x, y, format, grid }), FOR_A_DAY)
  },
})
