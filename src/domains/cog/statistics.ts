import Type from 'typebox'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { invalidField } from '#core/problem.ts'
import { requireArea } from '#core/geometry.ts'
import { Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { bandNames, parseBands } from '#raster/render/request.ts'
import { dataBands, rescaleText } from '#raster/render/style.ts'
import { Text } from '#wire/tile.ts'
import { CogUrl } from './wire.ts'

const MaybeNumber = Nullable(Type.Number())
const BandStatistics = Closed(
  {
    name: Type.String({ description: 'Band name or expression' }),
    min: Described(MaybeNumber, 'Minimum value; null without valid pixels'),
    max: Described(MaybeNumber, 'Maximum value; null without valid pixels'),
    mean: Described(MaybeNumber, 'Mean value; null without valid pixels'),
    std: Described(MaybeNumber, 'Standard deviation; null without valid pixels'),
    count: Type.Number({ description: 'Number of valid pixels' }),
    valid_fraction: Type.Number({ description: 'Fraction of pixels with data, 0 to 1' }),
    percentiles: Type.Array(
      Closed({
        percentile: Type.Number({ description: 'Percentile, 0 to 100' }),
        value: Described(MaybeNumber, 'Value at the percentile; null without valid pixels'),
      }),
      { description: 'Requested percentiles' },
    ),
    histogram: Closed(
      {
        counts: Type.Array(Type.Number(), { description: 'Number of values in each bin' }),
        edges: Type.Array(Type.Number(), { description: 'Bin edges' }),
      },
      { description: 'Distribution of the values' },
    ),
  },
  { $id: 'BandStatistics', description: 'Statistics of one band or expression' },
)

const EXAMPLE_AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [151.1, -33.9],
      [151.3, -33.9],
      [151.3, -33.7],
      [151.1, -33.7],
      [151.1, -33.9],
    ],
  ],
}

/** Statistics of bands or of an expression over an area, with a suggested `rescale` for tiles. */
export default operation({
  id: 'cog.statistics',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({
    url: CogUrl,
    geometry: Described(GeoJsonArea, 'Area to compute statistics for: GeoJSON Polygon or MultiPolygon'),
    expression: Described(Text, 'Band math expression, for example `(b4-b3)/(b4+b3)`'),
    bands: Described(Text, '1-based band numbers, separated by commas'),
    percentiles: Defaulted(Type.Array(Type.Number({ minimum: 0, maximum: 100 }), { minItems: 1, maxItems: 100 }), [2, 98], {
      description: 'Percentiles to compute, 0 to 100',
    }),
    exact_coverage: Defaulted(Type.Boolean(), false, { description: 'Whether to weight edge pixels by the fraction inside the area' }),
  }),
  output: Closed(
    {
      statistics: Type.Array(BandStatistics, { description: 'Statistics of each band or expression' }),
      rescale: Nullable(
        Type.String({ description: 'Suggested value range as `min,max` per band, separated by `;`; null without valid pixels' }),
      ),
      pixel_count: Type.Number({ description: 'Number of pixels in the area; with `exact_coverage`, edge pixels count by their fraction' }),
      level: Type.Integer({ description: 'Overview level that was read; 0 is full resolution' }),
    },
    { description: 'Statistics of the raster' },
  ),
  example: {
    input: { url: 'https://data.example/scene.tif', geometry: EXAMPLE_AREA, expression: '(b4-b3)/(b4+b3)' },
    output: {
      statistics: [
        {
          name: '(b4-b3)/(b4+b3)',
          min: -0.3,
          max: 0.9,
          mean: 0.42,
          std: 0.2,
          count: 10_000,
          valid_fraction: 1,
          percentiles: [
            { percentile: 2, value: -0.1 },
            { percentile: 98, value: 0.8 },
          ],
          histogram: { counts: [4_000, 6_000], edges: [-0.3, 0.3, 0.9] },
        },
      ],
      rescale: '-0.1,0.8',
      pixel_count: 10_000,
      level: 0,
    },
  },
}).handle({
  async check({ raster, signal }, input) {
    if (input.bands != null && input.expression != null) throw invalidField('bands', 'Send bands or expression, not both')
    const geometry = requireArea(input.geometry, 'geometry')
    const info = await raster.describe({ url: input.url }, signal)
    const bands = input.bands == null ? null : parseBands(input.bands, info)
    return {
      geometry,
      bands,
      bandNames: bandNames(info),
      names: input.expression == null ? (bands ?? dataBands(info)).map((band) => `b${band}`) : input.expression.split(';'),
    }
  },
  async execute(
    { raster, signal },
    { url, expression, percentiles, exact_coverage },
    { geometry, bands, bandNames: numbersByName, names },
  ) {
    const options = {
      geometry,
      percentiles,
      exactCoverage: exact_coverage,
      ...(bands ? { bands } : {}),
      ...(expression != null ? { expression, names: numbersByName } : {}),
    }
    const result = await raster.statistics({ url }, options, signal)
    const statistics = result.bands.map(({ min, max, mean, std, count, validFraction, percentiles: values, histogram }, index) => ({
      name: names[index]?.trim() ?? `result ${index + 1}`,
      min,
      max,
      mean,
      std,
      count,
      valid_fraction: validFraction,
      histogram,
      percentiles: percentiles.map((percentile, rank) => ({ percentile, value: values[rank] ?? null })),
    }))
    return { statistics, rescale: rescaleOf(statistics), pixel_count: result.pixelCount, level: result.level }
  },
})

/** From the lowest and highest percentile of each band; null without valid pixels. */
function rescaleOf(statistics: readonly { percentiles: readonly { value: number | null }[] }[]): string | null {
  return rescaleText(
    statistics.map(({ percentiles }) => {
      const values = percentiles.flatMap(({ value }) => (value === null ? [] : [value]))
      return values.length === 0 ? null : [Math.min(...values), Math.max(...values)]
    }),
  )
}
