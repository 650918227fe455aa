/** Inspects a new file: footprint, statistics, and whether it can be served without conversion. */
import { computeStatistics, type BandSummary } from '#raster/statistics/index.ts'
import type { Raster, RasterInfo } from '#raster/types.ts'

import { dataOutline, type Outline } from './outline.ts'

export interface Inspection {
  outline: Outline
  /** One per band; null for alpha. From the smallest level that is representative. */
  statistics: (BandSummary | null)[]
}

const STATISTICS_SIDE_PX = 512
const STATISTICS_MAX_PIXELS = 4 * 1024 * 1024
/** Like GDAL's validator: a smaller image needs neither tiles nor overviews. */
const SMALL_SIDE_PX = 512
const MAX_BLOCK_PX = 1024 * 1024
/** The coarsest level that a map of the whole image still renders at once. */
const MAX_COARSEST_SIDE_PX = 1024

/** Whether tiles of any zoom can be rendered from a few blocks: tiled, with overviews down to a small one. */
export function isCloudOptimized({ width, height, levels }: RasterInfo): boolean {
  if (Math.max(width, height) <= SMALL_SIDE_PX) return true
  const [full, coarsest] = [levels[0]!, levels.at(-1)!]
  const isTiled = levels.every((level) => level.blockWidth * level.blockHeight <= MAX_BLOCK_PX) && full.blockWidth < width
  return isTiled && Math.max(coarsest.width, coarsest.height) <= MAX_COARSEST_SIDE_PX
}

export async function inspect(raster: Raster, signal?: AbortSignal): Promise<Inspection> {
  const outline = await dataOutline(raster, signal)
  const { info } = raster
  const bands = info.bands.map((_, index) => index + 1).filter((band) => band - 1 !== info.alphaBand)
  const statistics = await computeStatistics(raster, { bands, minSidePx: STATISTICS_SIDE_PX, maxPixels: STATISTICS_MAX_PIXELS, signal })
  return {
    outline,
    statistics: info.bands.map((_, index) => (index === info.alphaBand ? null : (statistics.bands[bands.indexOf(index + 1)] ?? null))),
  }
}
