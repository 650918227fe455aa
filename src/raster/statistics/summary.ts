/** Summary statistics of samples. All numbers are null without samples. */
export interface Summary {
  /** Number of samples, or the sum of their weights where a polygon covers pixels partly. */
  count: number
  min: number | null
  max: number | null
  mean: number | null
  /** Of the population, not of a sample. */
  std: number | null
  sum: number
  /** One per requested percentile, in that order. */
  percentiles: (number | null)[]
  histogram: Histogram
}

export interface Histogram {
  counts: number[]
  /** One more than counts; a bin includes its left edge, the last one both. */
  edges: number[]
}

export interface SummaryOptions {
  percentiles: readonly number[]
  binCount: number
  /** Default: the range of the data. */
  binRange?: readonly [number, number] | undefined
}

/** Distinct values in ascending order, or single samples in any order, each with its weight. */
export interface Weighted {
  values: Float64Array
  /** Null for a weight of 1 each. */
  weights: Float64Array | null
  count: number
}

/** The edges of equal bins over a range; a single value gets a range around it, as in numpy. */
export function binEdges(range: readonly [number, number], binCount: number): number[] {
  const [low, high] = range[0] === range[1] ? [range[0] - 0.5, range[1] + 0.5] : range
  return Array.from({ length: binCount + 1 }, (_, i) => (i === binCount ? high : low + ((high - low) * i) / binCount))
}

/** The position of a percentile among `count` sorted samples, linear between the two nearest, as numpy's default. */
export const placeOf = (percentile: number, count: number): number => (percentile / 100) * (count - 1)
