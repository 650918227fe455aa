import Type, { type Static } from 'typebox'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { Choice, Closed, Described, FreeForm, Nullable, Uuid } from '#core/shapes.ts'
import type { Formula } from '#raster/formulas/index.ts'
import { SENSORS } from '#raster/formulas/sensors.ts'
import { ZONAL_STATISTICS } from '#raster/zonal/index.ts'
import { ItemId } from '#wire/ids.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/** Fields that several methods take. */
export const Item = Described(ItemId, 'ID of the item to analyse')
export const Area = Described(GeoJsonArea, 'Area to analyse: GeoJSON Polygon or MultiPolygon')
export const ExpressionText = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description: 'Band math over band names, roles or numbers, for example `(NIR - RED) / (NIR + RED)`',
})
export const IndexName = Type.String({
  minLength: 2,
  maxLength: 100,
  description: 'Spectral index such as `ndvi`, or the name of a saved formula',
})
const BandMapping = Type.Record(Type.String({ maxLength: 64 }), Type.Integer({ minimum: 1, maximum: 64 }), {
  description: 'Band role to 1-based band number, for example `{"NIR": 4, "RED": 3}`',
})
export const SensorId = Type.String({ maxLength: 50, description: 'Sensor ID from `analytics.sensors.list`; its band order applies' })
const AssetKey = Type.String({ minLength: 1, maxLength: 255, description: 'Asset key, for items with several rasters' })
export const ReflectanceScale = Type.Number({
  exclusiveMinimum: 0,
  maximum: 1,
  description: 'Factor that converts pixel values to reflectance; known for common products',
})
export const Statistics = Type.Array(Choice(ZONAL_STATISTICS), {
  minItems: 1,
  maxItems: ZONAL_STATISTICS.length,
  description: 'Statistics to compute; count, mean, min, max, std and sum by default',
})
export const Percentiles = Type.Array(Type.Number({ minimum: 0, maximum: 100 }), {
  maxItems: 20,
  description: 'Percentiles to compute, 0 to 100',
})

const nullableNumber = Nullable(Type.Number())
const PercentileValue = Closed({ percentile: Type.Number(), value: nullableNumber })

/** Statistics of one band or expression; only those that were requested are present. */
const Measured = Type.Object({
  ...Object.fromEntries(ZONAL_STATISTICS.map((name) => [name, Type.Optional(nullableNumber)])),
  valid_fraction: Type.Number({ description: 'Fraction of the area with data, 0 to 1' }),
  percentiles: Type.Array(PercentileValue),
})

const ChangedPart = Closed({ pixels: Type.Number(), area_ha: Type.Number(), fraction: Type.Number() })
const ComparedScene = Closed({ item_id: Uuid, datetime: Nullable(Type.String()), expression: Type.String(), mean: nullableNumber })

/** Results of the methods. */
export const ZonalResult = Closed({
  item_id: Uuid,
  expression: Nullable(Type.String()),
  reflectance_scale: nullableNumber,
  zones: Type.Array(
    Closed({
      id: Type.Union([Type.String(), Type.Number()]),
      properties: Nullable(FreeForm),
      results: Type.Array(Type.Object({ name: Type.String(), ...Measured.properties })),
    }),
  ),
})
export const SeriesResult = Closed({
  points: Type.Array(Type.Object({ item_id: Uuid, datetime: Nullable(Type.String()), name: Type.String(), ...Measured.properties })),
  skipped: Type.Array(Closed({ item_id: Uuid, datetime: Nullable(Type.String()), reason: Type.String() })),
})
export const ChangeResult = Closed({
  before: ComparedScene,
  after: ComparedScene,
  change_threshold: Type.Number(),
  gain: ChangedPart,
  loss: ChangedPart,
  unchanged: ChangedPart,
  compared: ChangedPart,
  difference: Closed({
    mean: nullableNumber,
    std: nullableNumber,
    min: nullableNumber,
    max: nullableNumber,
    percentiles: Type.Array(PercentileValue),
    histogram: Type.Unknown(),
  }),
})

export const optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Type.Optional(Nullable(schema))

export const bandFields = {
  band_mapping: optional(BandMapping),
  sensor: optional(SensorId),
  asset_key: optional(AssetKey),
}

const text = (description: string) => Nullable(Type.String({ description }))

export const RasterReference = Closed(
  {
    item_id: text('ID of the item whose tiles show the result; null for a computed raster'),
    tile_template: text("Tile URL template with `{z}`, `{x}` and `{y}`; requires the caller's credential; null if not rendered"),
    url: text('URL of the computed COG; null if none was produced'),
    picture_url: text('URL of the image; null if none was produced'),
    bounds: Nullable(
      Type.Array(Type.Number(), { description: 'Bounding box of the image as west, south, east, north in degrees; null without an image' }),
    ),
    expires_in_seconds: Nullable(Type.Integer({ description: 'Seconds until the computed raster is deleted; null for an item' })),
  },
  { $id: 'AnalyticsRaster', description: 'Where a result can be seen and downloaded' },
)
export type RasterReference = Static<typeof RasterReference>

export const resultFields = {
  id: Nullable(Described(Uuid, 'Report ID in the lineage; null if nothing was recorded')),
  operation: Type.String({ description: 'Method that was run' }),
  result: Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'Result of the method' }),
  raster: Nullable(RasterReference),
}

export const EXAMPLE_AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [146.3, -18.6],
      [146.31, -18.6],
      [146.31, -18.59],
      [146.3, -18.59],
      [146.3, -18.6],
    ],
  ],
}

export const EXAMPLE_REPORT_ID = '0199f2c6-6666-7abc-8def-0123456789ab'
export const EXAMPLE_RASTER: RasterReference = {
  item_id: EXAMPLE_IDS.item,
  tile_template: `https://imagery.example/api/v1/items/${EXAMPLE_IDS.item}/tiles/{z}/{x}/{y}.webp?expression=(b4-b3)%2F(b4%2Bb3)`,
  url: null,
  picture_url: null,
  bounds: null,
  expires_in_seconds: null,
}

export const IndexRecord = Closed(
  {
    id: Type.String({ description: 'Index ID' }),
    name: Type.String({ description: 'Display name of the index' }),
    formula: Type.String({ description: 'Band math over band roles' }),
    required_bands: Type.Array(Type.String(), { description: 'Band roles the index reads' }),
    category: Type.String({ description: 'Index category' }),
    colormap: Type.String({ description: 'Default colormap name' }),
    value_range: Type.Array(Type.Number(), { description: 'Values of the first and last colour' }),
    needs_reflectance: Type.Boolean({ description: 'Whether the formula requires reflectance from 0 to 1' }),
    reference: Type.String({ description: 'Publication the index is from' }),
    sensors: Type.Array(Type.String(), { description: 'IDs of the sensors that provide its bands' }),
  },
  { $id: 'SpectralIndex', description: 'A spectral index' },
)

export const toIndex = ({ id, name, expression, roles, category, colormap, range, reflectance, reference }: Formula) => ({
  id,
  name,
  formula: expression,
  required_bands: [...roles],
  category,
  colormap,
  value_range: [...range],
  needs_reflectance: reflectance === true,
  reference,
  sensors: SENSORS.filter(({ bands }) => roles.every((role) => bands.some((band) => band.role === role))).map((sensor) => sensor.id),
})

export const EXAMPLE_INDEX = {
  id: 'ndvi',
  name: 'Normalized Difference Vegetation Index',
  formula: '(NIR - RED) / (NIR + RED)',
  required_bands: ['RED', 'NIR'],
  category: 'vegetation',
  colormap: 'ndvi',
  value_range: [-0.2, 1],
  needs_reflectance: false,
  reference: 'Rouse et al. 1974',
  sensors: ['sentinel-2', 'landsat-8-9'],
}
