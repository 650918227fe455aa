import { Closed, Described } from '#core/shapes.ts'
import { mapAttributionFor } from '#model/imagery/attribution.ts'
import { operation } from '#operation.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { choiceOf, styleLayer } from '#services/rendering/styled-layer.ts'
import { styleFields, FormatOrWebp, TemplateKey, TileSize } from '#wire/tile.ts'
import { EXAMPLE_TILEJSON, profileParameters, TileJson, tileJson, tileTemplate } from '#services/rendering/tilejson.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** The TileJSON document of an item: tile URLs, bounds and zoom levels. */
export default operation({
  id: 'items.tile.tilejson',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    profile: styleFields.profile,
    asset_key: styleFields.asset_key,
    key: TemplateKey,
    format: Described(FormatOrWebp, 'Image format'),
    tile_size: Described(TileSize, 'Tile width and height in pixels: 256, or 512 for high-density screens'),
  }),
  output: TileJson,
  example: { input: { item_id: EXAMPLE_ITEM.id, profile: 'ndvi' }, output: EXAMPLE_TILEJSON },
}).handle({
  async check(context, input) {
    const layer = await context.layers.requireReader(context.principal, input.item_id, choiceOf(input))
    return await styleLayer(context, layer, input)
  },
  async execute({ db, baseUrl }, { profile, asset_key, key, format, tile_size }, { layer, info }) {
    const tiles = tileTemplate({
      baseUrl,
      of: { kind: 'items', id: layer.item.id },
      format,
      size: tile_size,
      parameters: { ...profileParameters(layer, profile), asset_key, key },
    })
    const { seq, name, description } = layer.item
    return tileJson({ name, description, attribution: await mapAttributionFor(db, seq), tiles }, coverageOf(info))
  },
})
