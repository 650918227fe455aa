import { changeDetection } from './change_detection.lib.ts'
import type { Method } from './method.lib.ts'
import { timeSeries } from './time_series.lib.ts'
import { zonalStats } from './zonal_stats.lib.ts'

/** Every analytics method; operations are listed, described and run from here. */
export const METHODS: readonly Method[] = [zonalStats, timeSeries, changeDetection]

export const METHOD_NAMES: readonly string[] = METHODS.map(({ name }) => name)

export const findMethod = (name: string): Method | null => METHODS.find((method) => method.name === name) ?? null
