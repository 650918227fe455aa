import Type, { type Static } from 'typebox'
import { invalidField } from '#core/problem.ts'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { mapInTime } from '#core/in-parts.ts'
import { Closed } from '#core/shapes.ts'
import type { Context } from '#operation.ts'
import { parseBands } from '#raster/render/request.ts'
import type { ZonalOptions, ZoneSummary } from '#raster/zonal/index.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { findMeasure, measureOf, type Measure } from './measure.lib.ts'
import { method, type Prepared } from './method.lib.ts'
import { tilesOf } from './report.lib.ts'
import { openItem, type Scene } from './scene.lib.ts'
import {
  Area,
  bandFields,
  EXAMPLE_AREA,
  ExpressionText,
  IndexName,
  Item,
  maybe,
  Percentiles,
  ReflectanceScale,
  Statistics,
  ZonalResult,
} from './wire.ts'

export const MAX_ZONES = 5_000
/** Closing points included; a limit of the body, in effect, and of the time that checking takes. */
export const MAX_ZONE_VERTICES = 50_000
/** Pixels of the blocks under the zones. */
export const MAX_PIXELS = 2 ** 25

const Feature = Type.Object(
  {
    type: Type.Literal('Feature'),
    geometry: Area,
    id: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Number()], { description: 'Given back with the zone' })),
    properties: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'Given back with the zone',
      }),
    ),
  },
  { description: 'One zone' },
)

const Params = Closed({
  item_id: Item,
  geometry: maybe(Area),
  zones: maybe(
    Type.Object(
      {
        type: Type.Literal('FeatureCollection'),
        features: Type.Array(Feature, { minItems: 1, maxItems: MAX_ZONES, description: 'The zones' }),
      },
      { description: 'Many zones at once, instead of one geometry' },
    ),
  ),
  bands: maybe(
    Type.Array(Type.Integer({ minimum: 1, maximum: 64 }), {
      minItems: 1,
      maxItems: 64,
      description: 'Band numbers from 1; all by default',
    }),
  ),
  expression: maybe(ExpressionText),
  index_name: maybe(IndexName),
  reflectance_scale: maybe(ReflectanceScale),
  statistics: maybe(Statistics),
  percentiles: maybe(Percentiles),
  ...bandFields,
})
type Params = Static<typeof Params>

/** Summary statistics of one area or of thousands, every pixel by the share of it that lies inside. */
export const zonalStats = method({
  name: 'zonal_stats',
  title: 'Zonal statistics',
  description:
    'Count, mean, spread, percentiles and more of bands, of an expression or of an index over one area or many. Pixels on a border ' +
    'count by the share of them that lies inside, exactly.',
  dataTypes: ['raster', 'dem'],
  params: Params,
  result: ZonalResult,
  process: 'zonal_stats',
  example: { item_id: EXAMPLE_IDS.item, geometry: EXAMPLE_AREA, index_name: 'ndvi', statistics: ['mean', 'median'] },
  async check(context, params) {
    const zones = await zonesOf(params)
    const scene = await openItem(context, params.item_id, params)
    const wanted = await wantedOf(context, scene, params)
    return prepared(scene, zones, wanted, params)
  },
})

interface NamedZone {
  geometry: AreaGeometry
  id: string | number | null
  properties: Record<string, unknown> | null
}

async function zonesOf({ geometry, zones }: Params): Promise<NamedZone[]> {
  if ((geometry == null) === (zones == null)) throw invalidField('params.geometry', 'give one geometry or zones, one of them')
  if (geometry != null) return [{ geometry: requireArea(geometry, 'params.geometry'), id: null, properties: null }]
  let vertices = 0
  return await mapInTime(zones!.features, (feature, index) => {
    const field = `params.zones.features[${index}].geometry`
    vertices += countPositions(feature.geometry['coordinates'], MAX_ZONE_VERTICES - vertices)
    if (vertices > MAX_ZONE_VERTICES)
      throw invalidField(field, `brings the zones to more than ${MAX_ZONE_VERTICES} vertices; simplify them or ask in parts`)
    return { geometry: requireArea(feature.geometry, field), id: feature.id ?? null, properties: feature.properties ?? null }
  })
}

/** Before each is looked at closely, which takes longer the more there are. */
function countPositions(coordinates: unknown, most: number): number {
  if (!Array.isArray(coordinates)) return 0
  if (typeof coordinates[0] === 'number') return 1
  let count = 0
  for (const part of coordinates) {
    count += countPositions(part, most - count)
    if (count > most) return count
  }
  return count
}

interface Wanted {
  options: Pick<ZonalOptions, 'bands' | 'expression'>
  labels: string[]
  measure: Measure | null
}

async function wantedOf(context: Context, scene: Scene, params: Params): Promise<Wanted> {
  const { bands, expression, index_name } = params
  if (expression == null && index_name == null) {
    const all = scene.info.bands.map((_, index) => index + 1).filter((band) => band - 1 !== scene.info.alphaBand)
    const chosen = bands ? parseBands(bands.join(','), scene.info, scene.names) : all
    return { options: { bands: chosen }, labels: chosen.map((band) => `b${band}`), measure: null }
  }
  if (bands != null) throw invalidField('params.bands', 'give bands, an expression or an index_name, one of them')
  const measure = measureOf(await findMeasure(context, params), scene, params)
  const labels = measure.expression.split(';').filter((part) => part.trim() !== '')
  return { options: { expression: measure.expression }, labels: labels.length === 1 ? [measure.label] : labels, measure }
}

function prepared(scene: Scene, zones: readonly NamedZone[], { options, labels, measure }: Wanted, params: Params): Prepared {
  const { statistics, percentiles } = params
  return {
    organizationId: scene.item!.organizationId,
    itemIds: [scene.item!.id],
    itemSeqs: [scene.item!.seq],
    async run({ raster, signal, baseUrl }) {
      const found = await raster.zonal(
        scene.source,
        {
          ...options,
          zones: zones.map(({ geometry }) => geometry),
          ...(statistics ? { statistics } : {}),
          ...(percentiles ? { percentiles } : {}),
          maxPixels: MAX_PIXELS,
        },
        signal,
      )
      const result = {
        item_id: scene.item!.id,
        expression: measure?.expression ?? null,
        reflectance_scale: measure?.reflectanceScale ?? null,
        zones: zones.map(({ id, properties }, index) => ({
          id: id ?? index,
          properties,
          results: found.zones[index]!.map((summary, series) =>
            toResult(labels[series] ?? `result ${series + 1}`, summary, percentiles ?? []),
          ),
        })),
      }
      return { result, raster: measure && labels.length === 1 ? tilesOf({ baseUrl }, scene, measure) : null }
    },
  }
}

/** One band or result of a zone, in the words of an answer. */
export function toResult(name: string, { values, count, covered, percentiles: ranks }: ZoneSummary, percentiles: readonly number[]) {
  return {
    name,
    ...values,
    valid_fraction: covered > 0 ? count / covered : 0,
    percentiles: percentiles.map((percentile, index) => ({ percentile, value: ranks[index] ?? null })),
  }
}
