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
  optional,
  Percentiles,
  ReflectanceScale,
  Statistics,
  ZonalResult,
} from './wire.ts'

export const MAX_ZONES = 5_000
/** Including closing points; limits the size of the body and the time that validation takes. */
export const MAX_ZONE_VERTICES = 50_000
/** Pixels of the blocks under the zones. */
export const MAX_PIXELS = 2 ** 25

const Feature = Type.Object(
  {
    type: Type.Literal('Feature'),
    geometry: Area,
    id: Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Number()], { description: 'Returned with the zone' })),
    properties: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        additionalProperties: true,
        description: 'Returned with the zone',
      }),
    ),
  },
  { description: 'A zone' },
)

const Params = Closed({
  item_id: Item,
  geometry: optional(Area),
  zones: optional(
    Type.Object(
      {
        type: Type.Literal('FeatureCollection'),
        features: Type.Array(Feature, { minItems: 1, maxItems: MAX_ZONES, description: 'Zones to analyse' }),
      },
      { description: 'Zones to analyse, instead of `geometry`' },
    ),
  ),
  bands: optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 64 }), {
      minItems: 1,
      maxItems: 64,
      description: '1-based band numbers; all by default',
    }),
  ),
  expression: optional(ExpressionText),
  index_name: optional(IndexName),
  reflectance_scale: optional(ReflectanceScale),
  statistics: optional(Statistics),
  percentiles: optional(Percentiles),
  ...bandFields,
})
type Params = Static<typeof Params>

/** Summary statistics of one area or of thousands; every pixel is weighted by the fraction inside. */
export const zonalStats = method({
  name: 'zonal_stats',
  title: 'Zonal statistics',
  description:
    'Count, mean, standard deviation, percentiles and more of bands, an expression or an index over one area or many. Edge pixels ' +
    'count by the exact fraction inside the area.',
  dataTypes: ['raster', 'dem'],
  params: Params,
  result: ZonalResult,
  process: 'zonal_stats',
  example: { item_id: EXAMPLE_IDS.item, geometry: EXAMPLE_AREA, index_name: 'ndvi', statistics: ['mean', 'median'] },
  async check(context, params) {
    const zones = await zonesOf(params)
    const scene = await openItem(context, params.item_id, params)
    const selection = await selectionOf(context, scene, params)
    return prepare(scene, zones, selection, params)
  },
})

interface NamedZone {
  geometry: AreaGeometry
  id: string | number | null
  properties: Record<string, unknown> | null
}

async function zonesOf({ geometry, zones }: Params): Promise<NamedZone[]> {
  if ((geometry == null) === (zones == null)) throw invalidField('params.geometry', 'Send exactly one of geometry and zones')
  if (geometry != null) return [{ geometry: requireArea(geometry, 'params.geometry'), id: null, properties: null }]
  let vertices = 0
  return await mapInTime(zones!.features, (feature, index) => {
    const field = `params.zones.features[${index}].geometry`
    vertices += countPositions(feature.geometry['coordinates'], MAX_ZONE_VERTICES - vertices)
    if (vertices > MAX_ZONE_VERTICES)
      throw invalidField(field, `exceeds the limit of ${MAX_ZONE_VERTICES} vertices for all zones; simplify them or send fewer zones`)
    return { geometry: requireArea(feature.geometry, field), id: feature.id ?? null, properties: feature.properties ?? null }
  })
}

/** Counts before the geometries are validated, which takes longer the more vertices they have. */
function countPositions(coordinates: unknown, limit: number): number {
  if (!Array.isArray(coordinates)) return 0
  if (typeof coordinates[0] === 'number') return 1
  let count = 0
  for (const part of coordinates) {
    count += countPositions(part, limit - count)
    if (count > limit) return count
  }
  return count
}

interface Selection {
  options: Pick<ZonalOptions, 'bands' | 'expression'>
  labels: string[]
  measure: Measure | null
}

async function selectionOf(context: Context, scene: Scene, params: Params): Promise<Selection> {
  const { bands, expression, index_name } = params
  if (expression == null && index_name == null) {
    const all = scene.info.bands.map((_, index) => index + 1).filter((band) => band - 1 !== scene.info.alphaBand)
    const chosen = bands ? parseBands(bands.join(','), scene.info, scene.names) : all
    return { options: { bands: chosen }, labels: chosen.map((band) => `b${band}`), measure: null }
  }
  if (bands != null) throw invalidField('params.bands', 'Send at most one of bands, expression and index_name')
  const measure = measureOf(await findMeasure(context, params), scene, params)
  const labels = measure.expression.split(';').filter((part) => part.trim() !== '')
  return { options: { expression: measure.expression }, labels: labels.length === 1 ? [measure.label] : labels, measure }
}

function prepare(scene: Scene, zones: readonly NamedZone[], { options, labels, measure }: Selection, params: Params): Prepared {
  const { statistics, percentiles } = params
  return {
    organizationId: scene.item!.organizationId,
    itemIds: [scene.item!.id],
    itemSeqs: [scene.item!.seq],
    async run({ raster, signal, baseUrl }) {
      const summaries = await raster.zonal(
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
          results: summaries.zones[index]!.map((summary, series) =>
            toResult(labels[series] ?? `result ${series + 1}`, summary, percentiles ?? []),
          ),
        })),
      }
      return { result, raster: measure && labels.length === 1 ? tilesOf({ baseUrl }, scene, measure) : null }
    },
  }
}

/** One band or expression of a zone, as the response returns it. */
export function toResult(name: string, { values, count, covered, percentiles: ranks }: ZoneSummary, percentiles: readonly number[]) {
  return {
    name,
    ...values,
    valid_fraction: covered > 0 ? count / covered : 0,
    percentiles: percentiles.map((percentile, index) => ({ percentile, value: ranks[index] ?? null })),
  }
}
