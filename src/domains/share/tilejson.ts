import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { EXAMPLE_TILEJSON, TileJson, tileJson } from '#services/drawing/tilejson.ts'
import { Legend, legendOf, ValueAt, valuesAt } from '#services/drawing/legend.ts'
import { lookFields } from '#wire/tile.ts'
import { requireShown } from './shown.lib.ts'
import { GRANT_SECONDS } from '#wire/share.ts'
import { looksOf } from './target.lib.ts'
import { VisualizationRecord } from './target.wire.ts'
import { EXAMPLE_GRANT, EXAMPLE_PASSWORD, EXAMPLE_TOKEN, EXAMPLE_VISUALIZATION, Password, Token } from './wire.ts'

const Place = Closed({
  longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Longitude in degrees' }),
  latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Latitude in degrees' }),
})

/**
 * What a map needs to draw a shared item. Its tiles carry a signed grant in place of the password, good for an hour; the
 * link is checked again for every tile.
 */
export default operation({
  id: 'share.tilejson',
  scope: 'shares:read',
  tier: 'read',
  public: true,
  input: Closed({
    token: Token,
    password: Described(Password, 'Password of the share link'),
    profile: lookFields.profile,
    at: Described(Type.Optional(Nullable(Place)), 'Point to read values at'),
  }),
  output: Closed(
    {
      ...TileJson.properties,
      visualizations: Type.Array(VisualizationRecord, {
        description: 'Available visualizations; omitted when values of a point are requested',
      }),
      legend: Nullable(Legend),
      values: Type.Optional(Nullable(Type.Array(ValueAt, { description: 'Values at the point `at`; null outside the image' }))),
    },
    { description: 'TileJSON of the shared item, with its visualizations' },
  ),
  example: {
    input: { token: EXAMPLE_TOKEN, password: EXAMPLE_PASSWORD },
    output: {
      ...EXAMPLE_TILEJSON,
      tiles: [`https://imagery.example/api/v1/share/tiles/{z}/{x}/{y}.webp?grant=${EXAMPLE_GRANT}`],
      visualizations: [EXAMPLE_VISUALIZATION],
      legend: { kind: 'composite', low: null, high: null, unit: null, colors: [], channels: ['red', 'green', 'blue'] },
    },
  },
}).handle({
  check: requireShown,
  async execute(context, { profile, at }, { share, resolved }) {
    context.attributeTo(share.link.organizationId)
    const { item } = resolved.layer
    const { grant } = await share.sign(share.scope, GRANT_SECONDS)
    const look = profile == null ? '' : `&profile=${encodeURIComponent(profile)}`
    const tiles = `${context.baseUrl}/api/v1/share/tiles/{z}/{x}/{y}.webp?grant=${grant}${look}`
    return {
      ...tileJson({ name: item.name, description: item.description, tiles }, coverageOf(resolved.info)),
      ...(at
        ? { visualizations: [], legend: null, values: await valuesAt(context, resolved, at) }
        : { visualizations: await looksOf(context, item.seq), legend: await legendOf(context, resolved) }),
    }
  },
})
