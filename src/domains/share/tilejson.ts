import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { mapAttributionFor, mapAttributionOfCollection } from '#model/imagery/attribution.ts'
import { operation, type Context } from '#operation.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import { collectionCoverage } from '#services/rendering/collection.ts'
import { DEFAULT_PROFILE } from '#services/rendering/styled-layer.ts'
import { EXAMPLE_TILEJSON, TileJson, tileJson } from '#services/rendering/tilejson.ts'
import { Legend, legendOf, ValueAt, valuesAt } from '#services/rendering/legend.ts'
import { styleFields } from '#wire/tile.ts'
import { publicTemplate, versionOf } from './public.lib.ts'
import { requireSharedLayer, type SharedLayer } from './shared-layer.lib.ts'
import { GRANT_SECONDS } from '#wire/share.ts'
import { styleOptionsOf } from './target.lib.ts'
import { VisualizationRecord } from './target.wire.ts'
import { EXAMPLE_GRANT, EXAMPLE_PASSWORD, EXAMPLE_TOKEN, EXAMPLE_VISUALIZATION, Password, Token } from './wire.ts'

const Place = Closed({
  longitude: Type.Number({ minimum: -180, maximum: 180, description: 'Longitude in degrees' }),
  latitude: Type.Number({ minimum: -90, maximum: 90, description: 'Latitude in degrees' }),
})

/**
 * Returns what a map needs to show a shared item, the collection of a public link, or a layer of a shared map. Tile URLs contain a signed
 * grant instead of the password, valid for an hour; the link is checked again for every tile. Tile URLs of a public link are the same for
 * everyone and contain a version, so that caches can keep the tiles.
 */
export default operation({
  id: 'share.tilejson',
  scope: 'shares:read',
  tier: 'read',
  public: true,
  input: Closed({
    token: Token,
    password: Described(Password, 'Password of the share link'),
    profile: styleFields.profile,
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
  check: requireSharedLayer,
  async execute(context, { profile, at }, shared) {
    context.attributeTo(shared.share.link.organizationId)
    const tiles = await templateOf(context, shared, profile)
    if ('collection' in shared.shown) {
      const { id, name, description } = shared.shown.collection
      const attribution = await context.shares.limit(() => mapAttributionOfCollection(context.db, id))
      const coverage = await collectionCoverage(context, shared.shown.collection)
      return {
        ...tileJson({ name, description, attribution, tiles }, coverage),
        visualizations: [],
        legend: null,
        ...(at ? { values: null } : {}),
      }
    }
    const { styled } = shared.shown
    const { item } = styled.layer
    const attribution = await context.shares.limit(() => mapAttributionFor(context.db, item.seq))
    return {
      ...tileJson({ name: item.name, description: item.description, attribution, tiles }, coverageOf(styled.info)),
      ...(at
        ? { visualizations: [], legend: null, values: await valuesAt(context, styled, at) }
        : { visualizations: await visualizationsOf(context, shared, item.seq), legend: await legendOf(context, styled) }),
    }
  },
})

/** A layer of a map has only the style of the map. */
const visualizationsOf = async (context: Context, { style }: SharedLayer, itemSeq: number) =>
  style === null ? await styleOptionsOf(context, itemSeq) : []

async function templateOf(context: Context, { share, versioned, style }: SharedLayer, profile: string | null | undefined): Promise<string> {
  const { baseUrl } = context
  const { grant } = await share.sign(share.scope, GRANT_SECONDS)
  if (share.link.isPublic) {
    const version = await context.shares.limit(() => versionOf(context, { versioned, style }))
    return publicTemplate({ baseUrl, grant, version, style: profile ?? DEFAULT_PROFILE })
  }
  const query = profile == null ? '' : `&profile=${encodeURIComponent(profile)}`
  return `${baseUrl}/api/v1/share/tiles/{z}/{x}/{y}.webp?grant=${grant}${query}`
}
