/** One measure over one raster: its statistics and, on request, an image. */
import Type, { type Static } from 'typebox'
import { areaBounds } from '#core/area.ts'
import { invalidField } from '#core/problem.ts'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { Choice, Closed, Defaulted, Nullable } from '#core/shapes.ts'
import { findColormap, unknownColormap } from '#raster/colormap/index.ts'
import type { Context } from '#operation.ts'
import { RasterError } from '#raster/types.ts'
import { coverageOf } from '#raster/warp/coverage.ts'
import type { Measure } from './measure.lib.ts'
import { tooLarge } from './method.lib.ts'
import { openItem, openUrl, type Scene } from './scene.lib.ts'
import { Area, bandFields, resultFields, Item, optional, ReflectanceScale } from './wire.ts'

const MAX_SIDE_PX = 2_048
const PERCENTILES = [2, 25, 50, 75, 98]
const BIN_COUNT = 20

const degrees = (description: string, maximum: number) => Type.Number({ minimum: -maximum, maximum, description })

export const sourceFields = {
  cog_url: optional(
    Type.String({ minLength: 1, maxLength: 2_048, description: 'URL of a COG on an allowed host; no lineage is recorded' }),
  ),
  item_id: optional(Item),
  bbox: optional(
    Closed(
      {
        west: degrees('Western edge in degrees', 180),
        south: degrees('Southern edge in degrees', 90),
        east: degrees('Eastern edge in degrees', 180),
        north: degrees('Northern edge in degrees', 90),
      },
      { $id: 'AnalysisBounds', description: 'Bounding box to analyse' },
    ),
  ),
  geometry: optional(Area),
  max_size: Defaulted(Type.Integer({ minimum: 16, maximum: MAX_SIDE_PX }), MAX_SIDE_PX, {
    description: 'Maximum pixels along the longer side; larger areas are read from an overview',
  }),
  output_format: Defaulted(Choice(['json', 'png']), 'json', { description: '`png` adds an image to the values' }),
  reflectance_scale: optional(ReflectanceScale),
  ...bandFields,
}

const Image = Nullable(
  Closed(
    {
      media_type: Type.String({ description: 'Media type, always `image/png`' }),
      width: Type.Integer({ description: 'Image width in pixels' }),
      height: Type.Integer({ description: 'Image height in pixels' }),
      bounds: Type.Array(Type.Number(), {
        description: 'Bounding box as west, south, east, north in degrees; the image is in Web Mercator',
      }),
      base64: Type.String({ description: 'Image data in Base64' }),
    },
    { $id: 'AnalyticsImage', description: 'A rendered image of a result' },
  ),
)
type Image = Static<typeof Image>

export const EvaluationResult = Closed({ ...resultFields, image: Image }, { $id: 'AnalyticsResult', description: 'Result of the analysis' })

interface Source {
  cog_url?: string | null | undefined
  item_id?: string | null | undefined
  bbox?: { west: number; south: number; east: number; north: number } | null | undefined
  geometry?: Record<string, unknown> | null | undefined
  band_mapping?: Record<string, number> | null | undefined
  sensor?: string | null | undefined
  asset_key?: string | null | undefined
}

/** The raster and the area to analyse. */
export async function openSource(context: Context, input: Source): Promise<{ scene: Scene; area: AreaGeometry | null }> {
  if ((input.cog_url == null) === (input.item_id == null)) throw invalidField('cog_url', 'Send exactly one of cog_url and item_id')
  if (input.bbox != null && input.geometry != null) throw invalidField('bbox', 'Send bbox or geometry, not both')
  const area = input.geometry != null ? requireArea(input.geometry, 'geometry') : input.bbox != null ? boxArea(input.bbox) : null
  const scene = input.item_id != null ? await openItem(context, input.item_id, input) : await openUrl(context, input.cog_url!, input)
  return { scene, area }
}

function boxArea({ west, south, east, north }: { west: number; south: number; east: number; north: number }): AreaGeometry {
  if (!(west < east && south < north)) throw invalidField('bbox', 'west must be less than east, and south less than north')
  return {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  }
}

export function requireColormap(name: string | null | undefined): string | null {
  if (name == null) return null
  const colormap = name.toLowerCase()
  if (!findColormap(colormap)) throw invalidField('colormap', unknownColormap(name))
  return colormap
}

interface Evaluation {
  scene: Scene
  area: AreaGeometry | null
  measure: Measure
  maxSize: number
  withImage: boolean
}

export async function evaluate({ raster, signal }: Context, { scene, area, measure, maxSize, withImage }: Evaluation) {
  const statistics = await raster
    .statistics(
      scene.source,
      {
        expression: measure.expression,
        percentiles: PERCENTILES,
        binCount: BIN_COUNT,
        maxPixels: maxSize * maxSize,
        ...(area ? { geometry: area, exactCoverage: true } : {}),
      },
      signal,
    )
    .catch((error: unknown) => {
      throw error instanceof RasterError && error.code === 'limit_exceeded' ? tooLarge(error, 'band_math') : error
    })
  const results = statistics.bands.map(({ min, max, mean, std, sum, count, validFraction, percentiles, histogram }) => ({
    min,
    max,
    mean,
    std,
    sum,
    count,
    valid_fraction: validFraction,
    percentiles: PERCENTILES.map((percentile, index) => ({ percentile, value: percentiles[index] ?? null })),
    histogram,
  }))
  const [first] = results
  const result = {
    expression: measure.expression,
    reflectance_scale: measure.reflectanceScale,
    /** 0 is full resolution; higher levels are overviews. */
    level: statistics.level,
    pixel_count: statistics.pixelCount,
    statistics: results.length === 1 ? first! : results,
  }
  const range = measure.range ?? rangeOf(first!.percentiles.map(({ value }) => value))
  return { result, image: withImage ? await renderImage({ raster, signal }, { scene, area, measure, maxSize }, range) : null }
}

function rangeOf(values: readonly (number | null)[]): [number, number] {
  const [low, high] = [values[0] ?? 0, values.at(-1) ?? 1]
  return high > low ? [low, high] : [low, low + 1]
}

async function renderImage(
  { raster, signal }: Pick<Context, 'raster' | 'signal'>,
  { scene, area, measure, maxSize }: Omit<Evaluation, 'withImage'>,
  range: readonly [number, number],
): Promise<Image> {
  const bounds = area ? areaBounds(area) : coverageOf(scene.info).bounds
  const style = {
    kind: 'expression' as const,
    expression: measure.expression,
    colormap: measure.colormap ?? 'viridis',
    ranges: [[...range] as [number, number]],
  }
  const { width, height, bytes } = await raster.mapImage(
    scene.source,
    { bounds, maxSide: maxSize, format: 'png', style, ...(area ? { aoi: area } : {}) },
    signal,
  )
  return { media_type: 'image/png', width, height, bounds: [...bounds], base64: Buffer.from(bytes).toString('base64') }
}
