/** Distribution of the values of a zone, for medians, percentiles and majorities. */
import { RasterError, type DataType } from '#raster/types.ts'
import type { Kept } from './kernels.ts'

/** Distinct values in ascending order, with the weight of each. */
interface Distribution {
  values: Float64Array
  weights: Float64Array
  count: number
}

/** Maximum number of values held for one zone. */
const MAX_HELD = 2 ** 24

export const noneKept = (): Kept => roomFor(0)

/** Space for this many pixels, whole or partly covered. */
export const roomFor = (pixels: number): Kept => ({
  whole: new Float64Array(pixels),
  wholeCount: 0,
  parts: new Float64Array(pixels),
  weights: new Float64Array(pixels),
  partCount: 0,
})

/** Adds the values of a part to those of its zone. */
export function append(to: Kept, from: Kept): void {
  const wholeCount = to.wholeCount + from.wholeCount
  const partCount = to.partCount + from.partCount
  if (wholeCount + partCount > MAX_HELD) {
    throw new RasterError(
      'limit_exceeded',
      `A zone has more than ${MAX_HELD} pixels, too many to sort; omit medians, majorities and percentiles, or split the zone`,
    )
  }
  to.whole = grown(to.whole, to.wholeCount, wholeCount)
  to.parts = grown(to.parts, to.partCount, partCount)
  to.weights = grown(to.weights, to.partCount, partCount)
  to.whole.set(from.whole.subarray(0, from.wholeCount), to.wholeCount)
  to.parts.set(from.parts.subarray(0, from.partCount), to.partCount)
  to.weights.set(from.weights.subarray(0, from.partCount), to.partCount)
  to.wholeCount = wholeCount
  to.partCount = partCount
}

/** Most zones are in one block and measured at once; otherwise the buffer doubles. */
function grown(values: Float64Array, held: number, least: number): Float64Array {
  if (values.length >= least) return values
  const larger = new Float64Array(held === 0 ? least : Math.max(least, held * 2))
  larger.set(values.subarray(0, held))
  return larger
}

const COUNTED: Partial<Record<DataType, { first: number; count: number }>> = {
  uint8: { first: 0, count: 256 },
  int8: { first: -128, count: 256 },
  uint16: { first: 0, count: 65_536 },
  int16: { first: -32_768, count: 65_536 },
}

/** One for a run over many zones: 8- and 16-bit integers are counted in bins that all zones share. */
export function createDistributor(dataType: DataType | null): (kept: Kept, low: number, high: number) => Distribution {
  const counted = dataType === null ? undefined : COUNTED[dataType]
  if (!counted) return sorted
  const bins = new Float64Array(counted.count)
  return (kept, low, high) => fromBins(kept, { bins, first: counted.first, low, high })
}

interface Bins {
  bins: Float64Array
  first: number
  low: number
  high: number
}

function fromBins({ whole, wholeCount, parts, weights, partCount }: Kept, { bins, first, low, high }: Bins): Distribution {
  for (let i = 0; i < wholeCount; i++) bins[whole[i]! - first]! += 1
  for (let i = 0; i < partCount; i++) bins[parts[i]! - first]! += weights[i]!
  const size = Math.max(0, Math.min(high - low + 1, wholeCount + partCount))
  const distribution: Distribution = { values: new Float64Array(size), weights: new Float64Array(size), count: 0 }
  for (let value = low; value <= high; value++) {
    const weight = bins[value - first]!
    if (weight === 0) continue
    bins[value - first] = 0
    distribution.values[distribution.count] = value
    distribution.weights[distribution.count++] = weight
  }
  return distribution
}

function sorted({ whole, wholeCount, parts, weights, partCount }: Kept): Distribution {
  const ascending = whole.subarray(0, wholeCount).sort()
  const order = Uint32Array.from({ length: partCount }, (_, i) => i).sort((a, b) => parts[a]! - parts[b]!)
  const size = wholeCount + partCount
  const distribution: Distribution = { values: new Float64Array(size), weights: new Float64Array(size), count: 0 }
  for (let i = 0, k = 0; i < wholeCount || k < partCount;) {
    const isPart = i >= wholeCount || (k < partCount && parts[order[k]!]! < ascending[i]!)
    const value = isPart ? parts[order[k]!]! : ascending[i]!
    const weight = isPart ? weights[order[k++]!]! : (i++, 1)
    if (distribution.count > 0 && distribution.values[distribution.count - 1] === value)
      distribution.weights[distribution.count - 1]! += weight
    else {
      distribution.values[distribution.count] = value
      distribution.weights[distribution.count++] = weight
    }
  }
  return distribution
}

/**
 * Percentiles of weighted values, linear between neighbours. With n distinct values, the k-th (from 0) is at
 * k · its weight + (n - 1) · the weight of all before it: with equal weights that is the usual rule.
 */
export function percentilesOf({ values, weights, count }: Distribution, percentiles: readonly number[]): (number | null)[] {
  if (count === 0) return percentiles.map(() => null)
  const places = new Float64Array(count)
  let before = 0
  for (let k = 0; k < count; k++) {
    places[k] = k === 0 ? 0 : k * weights[k]! + (count - 1) * before
    before += weights[k]!
  }
  return percentiles.map((percentile) => {
    const target = (percentile / 100) * before * (count - 1)
    let right = firstAbove(places, target)
    if (right >= count) return values[count - 1]!
    if (right === 0) right = 1
    const [left, step] = [values[right - 1]!, values[right]! - values[right - 1]!]
    return left + ((target - places[right - 1]!) * step) / (places[right]! - places[right - 1]!)
  })
}

function firstAbove(places: Float64Array, target: number): number {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (places[middle]! > target) high = middle
    else low = middle + 1
  }
  return low
}

/** The most frequent value (the greatest of several) and the least frequent (the least of several). */
export function extremesOf({ values, weights, count }: Distribution): { majority: number | null; minority: number | null } {
  if (count === 0) return { majority: null, minority: null }
  let [most, least] = [0, 0]
  for (let k = 1; k < count; k++) {
    if (weights[k]! >= weights[most]!) most = k
    if (weights[k]! < weights[least]!) least = k
  }
  return { majority: values[most]!, minority: values[least]! }
}
