/** What an alert rule says of an item: the mean of its expression, and whether that is what it waits for. */
import { notFound, Problem, problem } from '#core/problem.ts'
import { rasterSourceOf } from '#model/imagery/asset.ts'
import * as itemLayers from '#model/imagery/item-layer.ts'
import type { RuleTerms } from '#model/events/alert-rule.ts'
import type { Context } from '#operation.ts'
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'
import { bandNames } from '#raster/render/request.ts'

/** The smallest overview with at least so many pixels on its longer side is read. */
const SIDE_PX = 512
/** Two numbers are equal that differ by less than this share of them. */
const EQUAL_WITHIN = 1e-9
const PRIMARY = 'data'
/** Nothing is wrong with the file: the same may work in a moment. */
const PASSING: readonly RasterErrorCode[] = ['overloaded', 'aborted']

type Question = Pick<RuleTerms, 'expression' | 'assetKey' | 'bandMapping' | 'aoiGeometry'>

/** Read anew, not from what is remembered for tiles: an alert must not sleep through the end of a conversion. */
export async function meanOf(
  { db, raster, signal }: Pick<Context, 'db' | 'raster'> & { signal?: AbortSignal },
  itemSeq: number,
  { expression, assetKey, bandMapping, aoiGeometry }: Question,
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
    if (mean === null || !Number.isFinite(mean)) throw problem('bad-request', 'The expression has no finite value anywhere on this item')
    return mean
  } catch (error) {
    if (error instanceof RasterError && !PASSING.includes(error.code)) throw problem('bad-request', error.message)
    throw error
  }
}

/** There is no file, or not in a form that can be read yet: nothing is wrong, and an update of the item may bring it. */
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
      return Math.abs(value - threshold) <= EQUAL_WITHIN * Math.max(Math.abs(value), Math.abs(threshold))
    case 'between':
      return value >= threshold && value <= thresholdUpper!
  }
}
