import type { Context } from '#operation.ts'
import type { RasterSource } from '#ports/raster.ts'
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'
import type { BandSummary, StatisticsOptions } from '#raster/statistics/index.ts'

/** Failures of the service, not of a file. */
const OVERLOADED: readonly RasterErrorCode[] = ['aborted', 'overloaded', 'too_many', 'worker_failed']

/** Statistics of every band. If the bands are in several files, one that cannot be read is null; the others are unaffected. */
export async function bandStatistics(
  { raster, signal }: Pick<Context, 'raster' | 'signal'>,
  source: RasterSource,
  options: Pick<StatisticsOptions, 'minSidePx' | 'percentiles' | 'binCount'>,
): Promise<(BandSummary | null)[]> {
  if (!('stack' in source)) return (await raster.statistics(source, options, signal)).bands
  return await Promise.all(
    source.stack.map(async (_, index) => {
      try {
        return (await raster.statistics(source, { ...options, bands: [index + 1] }, signal)).bands[0]!
      } catch (error) {
        if (!(error instanceof RasterError) || OVERLOADED.includes(error.code)) throw error
        return null
      }
    }),
  )
}
