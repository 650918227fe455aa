import { Closed, Described } from '#core/shapes.ts'
import { signedTarget } from '#core/tile-signature.ts'
import { mapAttributionOfCollection } from '#model/imagery/attribution.ts'
import * as collections from '#model/imagery/collection.ts'
import { operation } from '#operation.ts'
import { collectionCoverage, rejectSavedProfile } from '#services/rendering/collection.ts'
import { FormatOrWebp, styleFields, SignedSeconds, TemplateKey, TileSize } from '#wire/tile.ts'
import { EXAMPLE_TILEJSON, TileJson, tileJson, tileTemplate } from '#services/rendering/tilejson.ts'
import { EXAMPLE_COLLECTION } from './wire.ts'
import { ItemId } from '#wire/ids.ts'

/** The TileJSON document of a collection as one layer. Below its minimum zoom, a tile would cover more items than it can show. */
export default operation({
  id: 'collections.tile.tilejson',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    collection_id: Described(ItemId, 'Collection ID'),
    profile: styleFields.profile,
    asset_key: styleFields.asset_key,
    key: TemplateKey,
    signed_seconds: SignedSeconds,
    format: Described(FormatOrWebp, 'Image format'),
    tile_size: Described(TileSize, 'Tile width and height in pixels: 256, or 512 for high-density screens'),
  }),
  output: TileJson,
  example: {
    input: { collection_id: EXAMPLE_COLLECTION.id },
    output: { ...EXAMPLE_TILEJSON, tiles: [`https://imagery.example/api/v1/collections/${EXAMPLE_COLLECTION.id}/tiles/{z}/{x}/{y}.webp`] },
  },
}).handle({
  async check({ db, principal }, input) {
    rejectSavedProfile(input)
    return await collections.requireReader(db, principal, input.collection_id)
  },
  async execute(context, { profile, asset_key, key, signed_seconds: seconds, format, tile_size }, collection) {
    const target = signedTarget({ kind: 'collections', id: collection.id, parameters: { profile, asset_key } })
    const signature = seconds == null ? null : await context.tileSigner.sign(context.principal, target, seconds)
    const tiles = tileTemplate({
      baseUrl: context.baseUrl,
      of: { kind: 'collections', id: collection.id },
      format,
      size: tile_size,
      parameters: { profile, asset_key, key, signature },
    })
    const { name, description } = collection
    const attribution = await mapAttributionOfCollection(context.db, collection.id)
    return tileJson({ name, description, attribution, tiles }, await collectionCoverage(context, collection))
  },
})
