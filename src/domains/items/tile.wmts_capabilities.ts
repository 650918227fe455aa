import Type from 'typebox'
import { requireBaseUrl } from '#core/base-url.ts'
import { Closed, Described } from '#core/shapes.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { signedTarget } from '#core/tile-signature.ts'
import { operation } from '#operation.ts'
import { visualizationsOf } from '#raster/render/request.ts'
import { coverageOf, imageGridOf } from '#raster/warp/coverage.ts'
import { choiceOf, DEFAULT_PROFILE, styleLayer } from '#services/rendering/styled-layer.ts'
import { SignedSeconds, styleFields, TemplateKey } from '#wire/tile.ts'
import { capabilities, itemEndpoint, stylesOf } from '#services/rendering/wmts.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'
import { ItemId } from '#wire/ids.ts'

/**
 * The WMTS 1.0.0 capabilities of an item: one layer, with a style for each visualization. With `signed_seconds`, with one style, whose
 * tile URLs need no credential.
 */
export default operation({
  id: 'items.tile.wmts_capabilities',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  raw: 'xml',
  input: Closed({
    item_id: Described(ItemId, 'Item ID'),
    base_url: Type.String({ minLength: 1, maxLength: 500, description: 'Base URL of tile URLs in the response' }),
    key: TemplateKey,
    profile: styleFields.profile,
    asset_key: styleFields.asset_key,
    signed_seconds: SignedSeconds,
  }),
  output: Type.Any(),
  example: { input: { item_id: EXAMPLE_ITEM.id, base_url: 'https://imagery.example' } },
}).handle({
  async check(context, input) {
    const baseUrl = requireBaseUrl(input.base_url)
    const layer = await context.layers.requireReader(context.principal, input.item_id, choiceOf(input))
    return { baseUrl, resolved: await styleLayer(context, layer, input) }
  },
  async execute(
    { db, principal, tileSigner },
    { profile = null, asset_key = null, key = null, signed_seconds: seconds = null },
    { baseUrl, resolved },
  ) {
    const { layer, info, names } = resolved
    const saved = await visualizationProfiles.list(db, layer.item.seq)
    const wanted = seconds === null ? profile : (profile ?? DEFAULT_PROFILE)
    const target = signedTarget({ kind: 'items', id: layer.item.id, parameters: { profile: wanted, asset_key } })
    const signature = seconds === null ? null : await tileSigner.sign(principal, target, seconds)
    const styles = stylesOf({ wanted, saved, derived: visualizationsOf(info, names).visualizations })
    const document = capabilities({
      item: layer.item,
      coverage: coverageOf(info),
      image: { ...imageGridOf(info), size: info },
      styles,
      endpoint: itemEndpoint({ baseUrl, itemId: layer.item.id, assetKey: asset_key, key, signature }),
    })
    return { contentType: 'application/xml; charset=utf-8', headers: { 'Cache-Control': 'private, no-store' }, body: Buffer.from(document) }
  },
})
