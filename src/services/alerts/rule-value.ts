/** The value of an alert rule for an item, which is the mean of its expression, and whether it meets the threshold. */
import { notFound, Problem, problem } from '#core/problem.ts'
import { rasterSourceOf } from '#model/imagery/asset.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import type { RuleTerms } from '#model/events/alert-rule.ts'
import type { Context } from '#operation.ts'
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'
import { bandNames } from '#raster/render/request.ts'

/** We read the smallest overview with at least this many pixels on its longer side. */
const SIDE_PX = 512
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
    const { bands } = await raster.statistics(
      source,
      {
        expression,
        names: { ...bandNames(info, given), ...bandMapping },
        minSidePx: SIDE_PX,
        binCount: 1,
        percentiles: [],
        ...(aoiGeometry ? { geometry: aoiGeometry } : {}),
      },
      signal,
    )
    const mean = bands[0]?.mean ?? null
    if (mean === null || !Number.isFinite(mean)) throw problem('bad-request', 'The expression has no finite value anywhere in this item')
    return mean
  } catch (error) {
    if (error instanceof RasterError && !TRANSIENT.includes(error.code)) throw problem('bad-request', error.message)
    throw error
  }
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
