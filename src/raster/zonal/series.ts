/** One zone in many scenes. Its position, coverage and expression are computed once for all scenes that share a grid. */
import { RasterError, type RasterErrorCode } from '#raster/errors.ts'
import type { Raster } from '#raster/types.ts'
import { zonalStatistics, type ZonalOptions, type ZoneSummary } from './index.ts'
import { ZonalMemory } from './memory.ts'

interface SeriesScene {
  /** Over band numbers. Of several results the first one is used. */
  readonly expression: string
  open(): Promise<Raster>
}

export type SeriesOptions = Pick<ZonalOptions, 'statistics' | 'percentiles' | 'maxPixels' | 'signal'> & { geometry: unknown }

/** The summary of a scene, or its failure. */
export type SeriesPoint = { summary: ZoneSummary } | { failure: Failure }

export interface Failure {
  code: RasterErrorCode
  message: string
}

/** Scenes read concurrently; more would only hold more blocks. */
const SCENES_TOGETHER = 4

/** Errors of the request or of the service, not of one scene. */
const UNFORGIVEN: ReadonlySet<RasterErrorCode> = new Set([
  'limit_exceeded',
  'deadline_exceeded',
  'aborted',
  'overloaded',
  'too_many',
  'worker_failed',
])

/** One point per scene, in order. A scene that cannot be read gives its failure and does not affect the others. */
export async function zonalSeries(scenes: readonly SeriesScene[], { geometry, ...options }: SeriesOptions): Promise<SeriesPoint[]> {
  const memory = new ZonalMemory()
  const zones = [geometry]
  return await eachForgiven(scenes, async ({ open, expression }) => {
    const { zones: results } = await zonalStatistics(await open(), { ...options, zones, expression, memory })
    return { summary: results[0]![0]! }
  })
}

/** Runs some at a time, in order; a failure of one is its own result. */
export async function eachForgiven<T, R>(list: readonly T[], work: (each: T) => Promise<R>): Promise<(R | { failure: Failure })[]> {
  const done: (R | { failure: Failure })[] = Array.from({ length: list.length })
  let next = 0
  const run = async (): Promise<void> => {
    while (next < list.length) {
      const index = next++
      done[index] = await work(list[index]!).catch(forgiven)
    }
  }
  await Promise.all(Array.from({ length: SCENES_TOGETHER }, run))
  return done
}

function forgiven(error: unknown): { failure: Failure } {
  if (!(error instanceof RasterError) || UNFORGIVEN.has(error.code)) throw error
  return { failure: { code: error.code, message: error.message } }
}
