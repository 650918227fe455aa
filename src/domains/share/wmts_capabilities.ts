import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as visualizationProfiles from '#model/imagery/visualization-profile.ts'
import { operation } from '#operation.ts'
import { visualizationsOf } from '#raster/render/request.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { collectionCoverage } from '#services/rendering/collection.ts'
import { capabilities, stylesOf, WMTS_PLACE } from '#services/rendering/wmts.ts'
import { GRANT_SECONDS } from '#wire/share.ts'
import { styleFields } from '#wire/tile.ts'
import { publicTemplate, versionOf } from './public.lib.ts'
import { requireSharedLayer } from './shared-layer.lib.ts'
import { EXAMPLE_TOKEN, Token } from './wire.ts'

/** The WMTS 1.0.0 capabilities of a public link: one layer, whose tile URLs contain a version and can be cached by anyone. */
export default operation({
  id: 'share.wmts_capabilities',
  scope: 'shares:read',
  tier: 'read',
  public: true,
  raw: 'xml',
  input: Closed({ token: Token, profile: styleFields.profile }),
  output: Type.Any(),
  example: { input: { token: EXAMPLE_TOKEN } },
}).handle({
  async check(context, input) {
    const shared = await requireSharedLayer(context, input)
    if (!shared.share.link.isPublic) throw problem('bad-request', 'This link has a password; WMTS needs a public link')
    return shared
  },
  async execute(context, { profile }, { share, versioned, style, shown }) {
    const { baseUrl, db, shares } = context
    context.attributeTo(share.link.organizationId)
    const { grant } = await share.sign(share.scope, GRANT_SECONDS)
    const version = await shares.limit(() => versionOf(context, { versioned, style }))
    const endpoint = {
      document: `${baseUrl}/api/v1/public/${grant}/WMTSCapabilities.xml`,
      pairs: null,
      template: (format: string) => publicTemplate({ baseUrl, grant, version, style: '{Style}' }, WMTS_PLACE, format),
    }
    const wanted = profile ?? null
    const layer =
      'styled' in shown
        ? {
            item: shown.styled.layer.item,
            coverage: coverageOf(shown.styled.info),
            styles: stylesOf({
              wanted,
              saved: style ? [] : await shares.limit(() => visualizationProfiles.list(db, shown.styled.layer.item.seq)),
              derived: style ? [] : visualizationsOf(shown.styled.info, shown.styled.names).visualizations,
            }),
          }
        : {
            item: shown.collection,
            coverage: await collectionCoverage(context, shown.collection),
            styles: stylesOf({ wanted, saved: [], derived: [] }),
          }
    const document = capabilities({ ...layer, image: null, endpoint })
    return { contentType: 'application/xml; charset=utf-8', headers: { 'Cache-Control': 'private, no-store' }, body: Buffer.from(document) }
  },
})
