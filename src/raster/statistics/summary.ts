/** What a set of samples is like. All numbers are null when there is not one sample. */
export interface Summary {
  /** How many samples, or the sum of their weights where a polygon covers pixels partly. */
  count: number
  min: number | null
  max: number | null
  mean: number | null
  /** Of the population, not of a sample of it. */
  std: number | null
  sum: number
  /** One for each percentile asked for, in that order. */
  percentiles: (number | null)[]
  histogram: Histogram
}

export interface Histogram {
  counts: number[]
  /** One more than there are counts; a bin holds its left edge, the last one both. */
  edges: number[]
}

export interface SummaryOptions {
  percentiles: readonly number[]
  binCount: number
  /** The data's own range by default. */
  binRange?: readonly [number, number] | undefined
}

/** Distinct values in ascending order, or single samples in any order, each with its weight. */
export interface Weighted {
  values: Float64Array
  /** Null for a weight of 1 each. */
  weights: Float64Array | null
  count: number
}

/** The borders of equal bins over a range; one value alone gets a range around it, as numpy does. */
export function binEdges(range: readonly [number, number], binCount: number): number[] {
  const [low, high] = range[0] === range[1] ? [range[0] - 0.5, range[1] + 0.5] : range
  return Array.from({ length: binCount + 1 }, (_, i) => (i === binCount ? high : low + ((high - low) * i) / binCount))
}

/** Linear between the two nearest samples, as numpy's default: the place of a percentile among `count` samples in order. */
export const placeOf = (percentile: number, count: number): number => (percentile / 100) * (count - 1)
