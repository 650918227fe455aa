/** The value of an alert rule for an item, which is the mean of its expression, and whether it meets the threshold. */
import { notFound, Problem, problem } from '#core/problem.ts'
import { rasterSourceOf } from '#model/imagery/asset.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import type { RuleTerms } from '#model/events/alert-rule.ts'
import type { Context } from '#operation.ts'
import type { RasterService, RasterSource } from '#ports/raster.ts'
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'
import { bandNames } from '#raster/render/request.ts'

/** Of a whole item we read the smallest overview with at least this many pixels on its longer side. */
const SIDE_PX = 512
/** An area whose blocks have at most this many pixels is read at full resolution: a field is less than a pixel of an overview. */
const MAX_AREA_PIXELS = 2 ** 23
/** Relative difference below which two numbers are equal. */
const EQUAL_TOLERANCE = 1e-9
const PRIMARY = 'data'
/** Nothing is wrong with the file; a retry can succeed. */
const TRANSIENT: readonly RasterErrorCode[] = ['overloaded', 'aborted']

type ValueTerms = Pick<RuleTerms, 'expression' | 'assetKey' | 'bandMapping' | 'aoiGeometry'>

/** Bypasses the layer cache of tiles, so that an alert does not miss the end of a conversion. */
export async function meanOf(
  { db, raster, signal }: Pick<Context, 'db' | 'raster'> & { signal?: AbortSignal },
  itemSeq: number,
  { expression, assetKey, bandMapping, aoiGeometry }: ValueTerms,
): Promise<number> {
  const { source, given } = await sourceOf(db, itemSeq, assetKey)
  try {
    const info = await raster.describe(source, signal)
    const measure = { source, expression, names: { ...bandNames(info, given), ...bandMapping } }
    const mean =
      (aoiGeometry && (await meanInArea(raster, measure, aoiGeometry, signal))) ?? (await meanOfAll(raster, measure, aoiGeometry, signal))
    if (mean === null || !Number.isFinite(mean)) throw problem('bad-request', 'The expression has no finite value anywhere in this item')
    return mean
  } catch (error) {
    if (error instanceof RasterError && !TRANSIENT.includes(error.code)) throw problem('bad-request', error.message)
    throw error
  }
}

interface Measure {
  source: RasterSource
  expression: string
  names: Readonly<Record<string, number>>
}

/** The same value as in a time series. Null if the area is too large for that, or has no data. */
async function meanInArea(
  raster: RasterService,
  { source, expression, names }: Measure,
  area: object,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  try {
    const options = { zones: [area], expression, names, statistics: ['mean' as const], maxPixels: MAX_AREA_PIXELS }
    const { zones } = await raster.zonal(source, options, signal)
    return zones[0]?.[0]?.values.mean ?? null
  } catch (error) {
    if (error instanceof RasterError && error.code === 'limit_exceeded') return null
    throw error
  }
}

async function meanOfAll(
  raster: RasterService,
  { source, expression, names }: Measure,
  area: object | null,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  const options = { expression, names, minSidePx: SIDE_PX, binCount: 1, percentiles: [], ...(area ? { geometry: area } : {}) }
  const { bands } = await raster.statistics(source, options, signal)
  return bands[0]?.mean ?? null
}

/** The item has no readable file yet. This is not an error: an update of the item may add one. */
export class NoPixels extends Problem {}

async function sourceOf(db: Context['db'], itemSeq: number, assetKey: string) {
  try {
    const layer = await itemLayers.find(db, itemSeq, { assetKey: assetKey === PRIMARY ? null : assetKey, profile: null })
    if (!layer) throw notFound('item')
    return { source: rasterSourceOf(layer.asset), given: layer.asset.bandNames }
  } catch (error) {
    throw error instanceof Problem ? new NoPixels('bad-request', error.message) : error
  }
}

export function isMet(
  { comparison, threshold, thresholdUpper }: Pick<RuleTerms, 'comparison' | 'threshold' | 'thresholdUpper'>,
  value: number,
): boolean {
  switch (comparison) {
    case 'lt':
      return value < threshold
    case 'gt':
      return value > threshold
    case 'eq':
      return Math.abs(value - threshold) <= EQUAL_TOLERANCE * Math.max(Math.abs(value), Math.abs(threshold))
    case 'between':
      return value >= threshold && value <= thresholdUpper!
  }
}
