/** How the values of a raster are stretched: from which value to which. */
import type { Edge, Range } from '../../parts/use-range-handles.ts'

/** Minimum, maximum and percentiles of the values. */
export interface ValueRange {
  min: number
  max: number
  p2: number
  p98: number
}

export type StretchMode = 'percentiles' | 'minmax' | 'custom'

/** Of the chart's width: ranges that differ by less are the same to the eye. */
const SAME = 1e-4

/** The values at the edges of the chart: all of the item's, and the range where it goes beyond. */
export function chartRange({ min, max }: ValueRange, range: Range): Range {
  const [low, high] = [Math.min(min, ...range), Math.max(max, ...range)]
  return [low, high > low ? high : low + 1]
}

export function stretchMode(values: ValueRange, range: Range): StretchMode {
  const [low, high] = chartRange(values, range)
  const isSame = ([a, b]: Range) => Math.max(Math.abs(a - range[0]), Math.abs(b - range[1])) < (high - low) * SAME
  if (isSame([values.p2, values.p98])) return 'percentiles'
  return isSame([values.min, values.max]) ? 'minmax' : 'custom'
}

/** The range with one end moveEdge; null where its low end would reach the high one. */
export function moveEdge(range: Range, edge: Edge, value: number): Range | null {
  const next = range.with(edge, value) as Range
  return next[0] < next[1] ? next : null
}

/** The range that a mode stands for; null for the default, which are the percentiles. */
export const rangeOf = (mode: StretchMode, { min, max }: ValueRange, range: Range): Range | null =>
  mode === 'percentiles' ? null : mode === 'minmax' ? [min, max] : range
