import { Closed, Described } from '#core/shapes.ts'
import { signedTarget } from '#core/tile-signature.ts'
import { mapAttributionFor } from '#model/imagery/attribution.ts'
import { operation } from '#operation.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { choiceOf, styleLayer } from '#services/rendering/styled-layer.ts'
import { styleFields, FormatOrWebp, SignedSeconds, TemplateKey, TileSize } from '#wire/tile.ts'
import { EXAMPLE_TILEJSON, profileParameters, TileJson, tileJson, tileTemplate } from '#services/rendering/tilejson.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/** The TileJSON document of an item: tile URLs, bounds and zoom levels. With `signed_seconds`, the URLs need no credential. */
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
    signed_seconds: SignedSeconds,
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
  async execute(
    { db, baseUrl, principal, tileSigner },
    { profile, asset_key, key, signed_seconds: seconds, format, tile_size },
    { layer, info },
  ) {
    const style = { ...profileParameters(layer, profile), asset_key }
    const target = signedTarget({ kind: 'items', id: layer.item.id, parameters: style })
    const signature = seconds == null ? null : await tileSigner.sign(principal, target, seconds)
    const tiles = tileTemplate({
      baseUrl,
      of: { kind: 'items', id: layer.item.id },
      format,
      size: tile_size,
      parameters: { ...style, key, signature },
    })
    const { seq, name, description } = layer.item
    return tileJson({ name, description, attribution: await mapAttributionFor(db, seq), tiles }, coverageOf(info))
  },
})
