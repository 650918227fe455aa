import { selectWeight } from './select.ts'
import { summarizeSpread } from './spread.ts'
import { rangeSquares, rangeSum, sum } from './sum.ts'
import { binEdges, placeOf, type Histogram, type Summary, type SummaryOptions, type Weighted } from './summary.ts'

/** Describes samples. Reorders those with weights. */
export function summarizeSamples({ values, weights, count }: Weighted, options: SummaryOptions): Summary {
  if (!weights && count > 0) return summarizeSpread(values.subarray(0, count), options)
  const moments = momentsOf({ values, weights, count })
  // The histogram comes first: percentiles reorder the values and their weights.
  const histogram = histogramOf({ values, weights, count }, moments, options)
  const percentiles = options.percentiles.map((percentile) =>
    weights ? selectWeight({ values, weights, count }, (percentile / 100) * moments.count) : null,
  )
  return { ...moments, percentiles, histogram }
}

/** Describes samples given as a count per ascending value; much faster for 8- and 16-bit integers. */
export function summarizeCounts(
  { values, weights, count }: Weighted & { weights: Float64Array },
  isFractional: boolean,
  options: SummaryOptions,
): Summary {
  const counted = { values, weights, count }
  const moments = momentsOf(counted)
  const percentiles = isFractional
    ? weightedPercentiles(counted, options.percentiles)
    : countedPercentiles(counted, moments.count, options.percentiles)
  return { ...moments, percentiles, histogram: histogramOf(counted, moments, options) }
}

type Moments = Omit<Summary, 'percentiles' | 'histogram'>

function momentsOf({ values, weights, count }: Weighted): Moments {
  let [min, max] = [Infinity, -Infinity]
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    if (value < min) min = value
    if (value > max) max = value
  }
  if (count === 0) return { count: 0, min: null, max: null, mean: null, std: null, sum: 0 }
  const total = weights ? sum(count, (from, to) => rangeSum(weights, null, from, to)) : count
  const weighted = sum(count, (from, to) => rangeSum(values, weights, from, to))
  const mean = weighted / total
  // A second pass: the difference of two large squares would lose precision.
  const squares = sum(count, (from, to) => rangeSquares({ values, weights, mean }, from, to))
  return { count: total, min, max, mean, std: Math.sqrt(squares / total), sum: weighted }
}

function histogramOf({ values, weights, count }: Weighted, { min, max }: Moments, { binCount, binRange }: SummaryOptions): Histogram {
  const edges = binEdges(binRange ?? [min ?? 0, max ?? 1], binCount)
  const [low, high] = [edges[0]!, edges[binCount]!]
  const counts = Array.from({ length: binCount }, () => 0)
  const perUnit = binCount / (high - low)
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    if (!(value >= low && value <= high)) continue
    let bin = Math.min(binCount - 1, Math.floor((value - low) * perUnit))
    // The multiplication can round across an edge, so the edges themselves decide.
    if (value < edges[bin]!) bin -= 1
    else if (bin < binCount - 1 && value >= edges[bin + 1]!) bin += 1
    counts[bin] = counts[bin]! + (weights ? weights[i]! : 1)
  }
  return { counts, edges }
}

function countedPercentiles(
  counted: Weighted & { weights: Float64Array },
  total: number,
  percentiles: readonly number[],
): (number | null)[] {
  if (total === 0) return percentiles.map(() => null)
  return percentiles.map((percentile) => {
    const place = placeOf(percentile, total)
    const lower = valueAtRank(counted, Math.floor(place))
    const share = place - Math.floor(place)
    return share === 0 ? lower : lower + (valueAtRank(counted, Math.floor(place) + 1) - lower) * share
  })
}

function valueAtRank({ values, weights, count }: Weighted & { weights: Float64Array }, rank: number): number {
  let seen = 0
  for (let i = 0; i < count; i++) {
    seen += weights[i]!
    if (seen > rank) return values[i]!
  }
  return values[count - 1]!
}

/** The first value at which the cumulative weight reaches the requested fraction (numpy's inverted_cdf). */
function weightedPercentiles(
  { values, weights, count }: Weighted & { weights: Float64Array },
  percentiles: readonly number[],
): (number | null)[] {
  const cumulative = new Float64Array(count)
  let total = 0
  for (let i = 0; i < count; i++) cumulative[i] = total += weights[i]!
  if (total === 0) return percentiles.map(() => null)
  return percentiles.map((percentile) => {
    const wanted = (percentile / 100) * total
    const index = cumulative.findIndex((sum, i) => sum >= wanted && weights[i]! > 0)
    return values[index < 0 ? count - 1 : index]!
  })
}
