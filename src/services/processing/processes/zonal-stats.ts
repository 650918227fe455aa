import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Choice, Closed, Defaulted, FreeForm } from '#core/shapes.ts'
import { noSuchBand } from '#raster/expression/bands.ts'
import { parseExpression } from '#raster/expression/index.ts'
import { boxOf, readPolygons } from '#raster/geometry/polygon.ts'
import { namesFor } from '#raster/formulas/named.ts'
import type { RasterSource } from '#ports/raster.ts'
import { PART_FILE } from '#raster/process/table.ts'
import { zonalTable } from '#raster/process/zonal.ts'
import { bandNames } from '#raster/render/request.ts'
import { ZONAL_STATISTICS } from '#raster/zonal/index.ts'
import { AssetKey, Bands, EXAMPLE_AREA, EXAMPLE_ITEM_ID, Expression, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process, type Computed, type OpenSource, type RunContext } from '#services/processing/process.ts'
import { singleSource, timesOf } from '#services/processing/single.ts'
import { readsOfZones } from '#services/processing/work.ts'

export const MAX_ZONES = 50_000
/** Over all zones, including closing points. */
export const MAX_VERTICES = 500_000
/** For both tables together: each number as text and as eight bytes, and IDs. */
const TABLE_CELL_BYTES = 64
const TABLE_HEADER_BYTES = 64 * 1024
/** Overall progress when the tables of a divided job are written. */
const TABLE_FROM = 0.98

const Zone = Type.Object(
  {
    type: Type.Literal('Feature'),
    id: Type.Optional(
      Type.Union([Type.String({ maxLength: 200 }), Type.Number()], {
        description: 'Zone ID in the table; defaults to the position of the feature',
      }),
    ),
    geometry: Type.Unsafe<Record<string, unknown>>({
      ...FreeForm,
      description: 'GeoJSON Polygon or MultiPolygon in longitude and latitude',
    }),
  },
  { description: 'A zone' },
)

/** Statistics of thousands of zones as a table. */
export default process({
  id: 'zonal_stats',
  title: 'Zonal statistics',
  description:
    'Computes statistics of bands or an expression for thousands of zones, as CSV and Parquet tables. Border pixels are weighted by ' +
    'the exact share that lies inside the zone.',
  version: '1',
  category: 'statistics',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    zones: Type.Object(
      {
        type: Type.Literal('FeatureCollection'),
        features: Type.Array(Zone, { minItems: 1, maxItems: MAX_ZONES, description: 'Zones' }),
      },
      { description: 'GeoJSON FeatureCollection of the zones' },
    ),
    bands: Bands,
    expression: Type.Optional(Expression),
    statistics: Defaulted(
      Type.Array(Choice(ZONAL_STATISTICS), { minItems: 1, maxItems: ZONAL_STATISTICS.length, uniqueItems: true }),
      ['count', 'mean', 'min', 'max', 'std', 'sum'],
      { description: 'Statistics, one column each' },
    ),
    percentiles: Defaulted(Type.Array(Type.Number({ minimum: 0, maximum: 100 }), { maxItems: 20, uniqueItems: true }), [], {
      description: 'Percentiles from 0 to 100, one additional column each',
    }),
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.01, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: {
    item_id: EXAMPLE_ITEM_ID,
    zones: { type: 'FeatureCollection', features: [{ type: 'Feature', id: 'north', geometry: EXAMPLE_AREA }] },
    expression: '(b4-b3)/(b4+b3)',
  },
}).handle({
  sources: singleSource,
  check({ zones, bands, expression }, [source]) {
    if (bands && expression !== undefined) throw invalidField('bands', 'cannot be combined with expression')
    if (expression !== undefined) parseExpression(expression, { names: namesOf(expression, source!), bandCount: source!.info.bandCount })
    const missing = bands?.find((band) => band > source!.info.bandCount)
    if (missing !== undefined)
      throw invalidField('bands', noSuchBand(missing, source!.info.bandCount, bandNames(source!.info, source!.bandNames)))
    const vertices = zones.features.reduce((sum, { geometry }) => sum + (geometry['coordinates'] as unknown[]).flat(2).length, 0)
    if (vertices > MAX_VERTICES)
      throw invalidField('zones', `must have at most ${MAX_VERTICES} vertices; simplify them or create several jobs`)
  },
  work({ zones, bands, expression, statistics, percentiles }, [source]) {
    const series = expression === undefined ? (bands?.length ?? source!.info.bandCount) : expression.split(';').length
    const cells = zones.features.length * series * (statistics.length + percentiles.length + 3)
    return {
      reads: readsOfZones(source!, zones.features),
      rasters: [],
      otherBytes: TABLE_HEADER_BYTES + TABLE_CELL_BYTES * cells,
      field: 'zones',
    }
  },
  async run(context, { zones, bands, expression, statistics, percentiles, output_name }, sources) {
    const [source] = sources
    const { info, item: sourceItem } = source!
    const all = info.bands.map((_, index) => index + 1).filter((band) => band - 1 !== info.alphaBand)
    const labels = expression === undefined ? (bands ?? all).map((band) => `b${band}`) : expression.split(';').map((part) => part.trim())
    const options = {
      zones: zones.features.map(({ id, geometry }, index) => ({ id: String(id ?? index), geometry })),
      labels,
      statistics,
      percentiles,
      ...(expression === undefined ? { bands: bands ?? all } : { expression, names: namesOf(expression, source!) }),
    }
    const request = { method: 'zonal', sources: [source!.source], options, outputs: ['zones.csv', 'zones.parquet'] }
    const { files, emptyCount } = await zonesIn(context, request)
    const table = (key: string, title: string, mediaType: string, file: string) => ({
      key,
      title,
      roles: ['data'],
      mediaType,
      path: files[file]!.path,
    })
    const item = {
      ...timesOf(sources),
      name: output_name ?? `${sourceItem?.name ?? 'Raster'}, zonal statistics`,
      type: 'derived_vector' as const,
      geometry: sourceItem!.geometry,
      assets: [
        table('csv', 'Zonal statistics as CSV', 'text/csv', 'zones.csv'),
        table('parquet', 'Zonal statistics as Parquet', 'application/vnd.apache.parquet', 'zones.parquet'),
      ],
    }
    return { items: [item], summary: { zone_count: zones.features.length, empty_zone_count: emptyCount } }
  },
})

interface ZonalRequest {
  readonly method: string
  readonly sources: readonly RasterSource[]
  readonly options: Parameters<typeof zonalTable>[0] & { readonly zones: readonly { readonly id: string; readonly geometry: unknown }[] }
  readonly outputs: readonly string[]
}

/** Computes the zones, in a large job those of each strip of the raster on another machine, and writes the tables. */
async function zonesIn(
  { compute, computeEach, localFile, partCount }: RunContext,
  request: ZonalRequest,
): Promise<Pick<Computed, 'files'> & { emptyCount: number }> {
  const name = 'computing zones'
  const { options } = request
  const empty = (result: Computed['result']) => result['emptyCount'] as number
  const strips = stripsOf(options.zones, partCount)
  if (strips.length < 2) {
    const { files, result } = await compute(request, { name })
    return { files, emptyCount: empty(result) }
  }
  const requests = strips.map((numbers) => ({
    ...request,
    options: { ...options, zones: numbers.map((number) => options.zones[number]!), numbers },
    outputs: [PART_FILE],
  }))
  const computed = await computeEach(requests, { name, to: TABLE_FROM })
  const parts: string[] = []
  for (const { files } of computed) parts.push(await localFile(files[PART_FILE]!))
  const { files } = await compute(
    {
      method: 'table',
      sources: [],
      options: { ...zonalTable(options), groupCount: options.zones.length, parts },
      outputs: request.outputs,
    },
    { name: 'writing tables', from: TABLE_FROM },
  )
  return { files, emptyCount: computed.reduce((sum, { result }) => sum + empty(result), 0) }
}

/** Zones from north to south, in as many groups of about equal area: each reads its own strip of the raster. */
function stripsOf(zones: readonly { readonly geometry: unknown }[], count: number): number[][] {
  if (count < 2 || zones.length < 2) return []
  const placed = zones
    .map(({ geometry }, number) => {
      const { minX, minY, maxX, maxY } = boxOf(readPolygons(geometry))
      return { number, middle: (minY + maxY) / 2, area: (maxX - minX) * (maxY - minY) }
    })
    .toSorted((a, b) => b.middle - a.middle || a.number - b.number)
  const total = placed.reduce((sum, { area }) => sum + area, 0)
  const strips: number[][] = []
  let area = 0
  for (const zone of placed) {
    const strip = Math.min(count - 1, Math.floor((count * (area + zone.area / 2)) / total))
    ;(strips[strip] ??= []).push(zone.number)
    area += zone.area
  }
  return strips.filter((strip) => strip.length > 0)
}

/** Band numbers of the names in the expression, including roles in any spelling. */
const namesOf = (expression: string, { info, bandNames: given }: OpenSource): Record<string, number> =>
  namesFor(expression, bandNames(info, given))
