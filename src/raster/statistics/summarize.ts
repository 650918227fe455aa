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

/** Describes single samples. Reorders them. */
export function summarizeSamples({ values, weights, count }: Weighted, options: SummaryOptions): Summary {
  const moments = momentsOf({ values, weights, count })
  // The histogram comes first: percentiles reorder the values, and weights would no longer belong to them.
  const histogram = histogramOf({ values, weights, count }, moments, options)
  const percentiles = weights
    ? options.percentiles.map((percentile) => selectWeight({ values, weights, count }, (percentile / 100) * moments.count))
    : plainPercentiles(values.subarray(0, count), options.percentiles)
  return { ...moments, percentiles, histogram }
}

/** Describes samples given as a count for each value, which must ascend; much faster for bytes and 16-bit integers. */
export function summarizeCounts({ values, weights, count }: Weighted & { weights: Float64Array }, isFractional: boolean, options: SummaryOptions): Summary {
  const counted = { values, weights, count }
  const moments = momentsOf(counted)
  const percentiles = isFractional ? weightedPercentiles(counted, options.percentiles) : countedPercentiles(counted, moments.count, options.percentiles)
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
  // A second pass: the difference of two large squares would lose the digits.
  const squares = sum(count, (from, to) => rangeSquares({ values, weights, mean }, from, to))
  return { count: total, min, max, mean, std: Math.sqrt(squares / total), sum: weighted }
}

const SUM_BLOCK = 4096

/** Sums block by block, so that small numbers are not lost beside a large running sum. */
function sum(count: number, ofRange: (from: number, to: number) => number): number {
  let total = 0
  for (let start = 0; start < count; start += SUM_BLOCK) total += ofRange(start, Math.min(count, start + SUM_BLOCK))
  return total
}

function rangeSum(values: Float64Array, weights: Float64Array | null, from: number, to: number): number {
  let total = 0
  if (weights) for (let i = from; i < to; i++) total += values[i]! * weights[i]!
  else for (let i = from; i < to; i++) total += values[i]!
  return total
}

function rangeSquares({ values, weights, mean }: { values: Float64Array; weights: Float64Array | null; mean: number }, from: number, to: number): number {
  let total = 0
  for (let i = from; i < to; i++) {
    const distance = values[i]! - mean
    total += weights ? distance * distance * weights[i]! : distance * distance
  }
  return total
}

function histogramOf({ values, weights, count }: Weighted, { min, max }: Moments, { binCount, binRange }: SummaryOptions): Histogram {
  let [low, high] = binRange ?? [min ?? 0, max ?? 1]
  // One value alone gets a bin around it, as numpy does.
  if (low === high) [low, high] = [low - 0.5, high + 0.5]
  const edges = Array.from({ length: binCount + 1 }, (_, i) => (i === binCount ? high : low + ((high - low) * i) / binCount))
  const counts = Array.from({ length: binCount }, () => 0)
  const perUnit = binCount / (high - low)
  for (let i = 0; i < count; i++) {
    const value = values[i]!
    if (!(value >= low && value <= high)) continue
    let bin = Math.min(binCount - 1, Math.floor((value - low) * perUnit))
    // The multiplication may round across an edge; the edges themselves decide.
    if (value < edges[bin]!) bin -= 1
    else if (bin < binCount - 1 && value >= edges[bin + 1]!) bin += 1
    counts[bin] = counts[bin]! + (weights ? weights[i]! : 1)
  }
  return { counts, edges }
}

/** Linear between the two nearest samples, as numpy's default. */
function plainPercentiles(values: Float64Array, percentiles: readonly number[]): (number | null)[] {
  const last = values.length - 1
  if (last < 0) return percentiles.map(() => null)
  const places = percentiles.map((percentile) => (percentile / 100) * last)
  const ranks = places.flatMap((place) => [Math.floor(place), Math.ceil(place)]).sort((a, b) => a - b)
  selectRanks(values, ranks)
  return places.map((place) => {
    const lower = values[Math.floor(place)]!
    return lower + (values[Math.ceil(place)]! - lower) * (place - Math.floor(place))
  })
}

function countedPercentiles(counted: Weighted & { weights: Float64Array }, total: number, percentiles: readonly number[]): (number | null)[] {
  if (total === 0) return percentiles.map(() => null)
  return percentiles.map((percentile) => {
    const place = (percentile / 100) * (total - 1)
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

/** The first value at which the weights of it and all smaller ones reach the share asked for (numpy's inverted_cdf). */
function weightedPercentiles({ values, weights, count }: Weighted & { weights: Float64Array }, percentiles: readonly number[]): (number | null)[] {
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

/**
 * Moves the samples of these ranks (ascending) to where they would stand if all were sorted, and sorts no more than that
 * needs. Each round parts the samples and the ranks, so many ranks cost little more than one.
 */
export function selectRanks(values: Float64Array, ranks: readonly number[], from = 0, to = values.length - 1): void {
  let low = from
  let high = to
  let wanted = ranks
  while (wanted.length > 0 && low < high) {
    const { lastLow, firstHigh } = partition(values, null, low, high)
    const right = wanted.filter((rank) => rank >= firstHigh)
    const left = wanted.filter((rank) => rank <= lastLow)
    // The shorter side by recursion, the longer one in the loop: the depth stays small whatever the samples.
    if (lastLow - low < high - firstHigh) {
      selectRanks(values, left, low, lastLow)
      low = firstHigh
      wanted = right
    } else {
      selectRanks(values, right, firstHigh, high)
      high = lastLow
      wanted = left
    }
  }
}

/** The first sample in ascending order at which the weights so far reach `wanted`; partly sorts both in place. */
function selectWeight({ values, weights, count }: Weighted & { weights: Float64Array }, wanted: number): number | null {
  if (count === 0) return null
  let low = 0
  let high = count - 1
  let before = 0
  while (low < high) {
    const { lastLow, firstHigh } = partition(values, weights, low, high)
    const lower = rangeSum(weights, null, low, lastLow + 1)
    const middle = rangeSum(weights, null, lastLow + 1, firstHigh)
    if (wanted <= before + lower) {
      high = lastLow
    } else if (wanted <= before + lower + middle) {
      return values[lastLow + 1]!
    } else {
      before += lower + middle
      low = firstHigh
    }
  }
  return values[low]!
}

/**
 * Moves small samples before large ones: up to `lastLow` none is larger than the pivot, from `firstHigh` on none is
 * smaller, and between them all equal it.
 */
function partition(values: Float64Array, weights: Float64Array | null, low: number, high: number): { lastLow: number; firstHigh: number } {
  const pivot = middleOfThree(values[low]!, values[(low + high) >>> 1]!, values[high]!)
  let i = low
  let j = high
  while (i <= j) {
    while (values[i]! < pivot) i += 1
    while (values[j]! > pivot) j -= 1
    if (i > j) break
    swap(values, i, j)
    if (weights) swap(weights, i, j)
    i += 1
    j -= 1
  }
  return { lastLow: j, firstHigh: i }
}

function swap(values: Float64Array, i: number, j: number): void {
  const held = values[i]!
  values[i] = values[j]!
  values[j] = held
}

const middleOfThree = (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
