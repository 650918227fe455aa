import { rangeSum } from './sum.ts'
import type { Weighted } from './summary.ts'

/**
 * Moves the samples of these ranks (ascending) to their position in sorted order, without sorting more than
 * necessary. Each round partitions the samples and the ranks, so many ranks cost little more than one.
 */
export function selectRanks(values: Float64Array, ranks: readonly number[], from = 0, to = values.length - 1): void {
  let low = from
  let high = to
  let wanted = ranks
  while (wanted.length > 0 && low < high) {
    const { lastLow, firstHigh } = partition(values, null, low, high)
    const right = wanted.filter((rank) => rank >= firstHigh)
    const left = wanted.filter((rank) => rank <= lastLow)
    // Recursion for the shorter side, a loop for the longer one: the depth stays small for any samples.
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
export function selectWeight({ values, weights, count }: Weighted & { weights: Float64Array }, wanted: number): number | null {
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
 * Partitions around a pivot: up to `lastLow` none is larger than the pivot, from `firstHigh` on none is
 * smaller, and all in between are equal.
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
