import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { EXAMPLE_TILEJSON, TileJson, tileJson } from '#services/drawing/tilejson.ts'
import { lookFields } from '#wire/tile.ts'
import { requireShown } from './shown.lib.ts'
import { GRANT_SECONDS } from '#wire/share.ts'
import { looksOf } from './target.lib.ts'
import { VisualizationRecord } from './target.wire.ts'
import { EXAMPLE_GRANT, EXAMPLE_PASSWORD, EXAMPLE_TOKEN, EXAMPLE_VISUALIZATION, Password, Token } from './wire.ts'

/**
 * What a map needs to draw a shared item. Its tiles carry a signed grant in place of the password, good for an hour; the
 * link is checked again for every tile.
 */
export default operation({
  id: 'share.tilejson',
  scope: 'shares:read',
  tier: 'read',
  public: true,
  input: Closed({ token: Token, password: Password, profile: lookFields.profile }),
  output: Closed({ ...TileJson.properties, visualizations: Type.Array(VisualizationRecord) }),
  example: {
    input: { token: EXAMPLE_TOKEN, password: EXAMPLE_PASSWORD },
    output: {
      ...EXAMPLE_TILEJSON,
      tiles: [`https://imagery.example/api/v1/share/tiles/{z}/{x}/{y}.webp?grant=${EXAMPLE_GRANT}`],
      visualizations: [EXAMPLE_VISUALIZATION],
    },
  },
}).handle({
  check: requireShown,
  async execute(context, { profile }, { share, resolved }) {
    context.attributeTo(share.link.organizationId)
    const { item } = resolved.layer
    const { grant } = await share.sign(share.scope, GRANT_SECONDS)
    const look = profile == null ? '' : `&profile=${encodeURIComponent(profile)}`
    const tiles = `${context.baseUrl}/api/v1/share/tiles/{z}/{x}/{y}.webp?grant=${grant}${look}`
    return {
      ...tileJson({ name: item.name, description: item.description, tiles }, coverageOf(resolved.info)),
      visualizations: await looksOf(context, item.seq),
    }
  },
})
