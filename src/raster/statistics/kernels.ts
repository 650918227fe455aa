/**
 * Loops over samples of one data type, for statistics. Loaded once per type, as `warp/instances.ts` explains.
 */
import type { SampleArray } from '#raster/types.ts'

/** Which samples count: those with a weight above 0 that are data. */
export interface Selection {
  /** 0 for samples that do not count; null if all do. */
  mask: Uint8Array | null
  nodata: number | null
  /** The fraction of each pixel that a polygon covers; null for whole pixels. */
  weights: Float64Array | null
}

/** Copies the counted samples and their weights to the front of the outputs; returns how many. */
export function collect(samples: SampleArray, selection: Selection, values: Float64Array, weightsOut: Float64Array | null): number {
  const { mask, weights } = selection
  const nodata = selection.nodata ?? Number.NaN
  let count = 0
  for (let i = 0; i < samples.length; i++) {
    if (mask && mask[i] === 0) continue
    if (weights && weights[i] === 0) continue
    const value = samples[i]!
    if (value === nodata || value - value !== 0) continue
    values[count] = value
    if (weightsOut && weights) weightsOut[count] = weights[i]!
    count += 1
  }
  return count
}

/** Weighs each value of an 8- or 16-bit type; `bins[k]` belongs to the value `first + k`. */
export function weighValues(samples: SampleArray, { mask, nodata, weights }: Selection, bins: Float64Array, first: number): void {
  const marker = nodata ?? Number.NaN
  for (let i = 0; i < samples.length; i++) {
    if (mask && mask[i] === 0) continue
    const value = samples[i]!
    if (value === marker) continue
    const bin = value - first
    bins[bin] = bins[bin]! + (weights ? weights[i]! : 1)
  }
}

/** Pairs of pixel indices in a block: the start and the end (exclusive) of each run. */
export type Runs = Int32Array

/** One band of a block. */
export interface BandSamples {
  samples: SampleArray
  start: number
  stride: number
  mask: Uint8Array | null
}

/** Counts each value of an 8- or 16-bit type in the runs. The caller removes the bin of nodata, which saves a test per pixel. */
export function countRuns({ samples, start, stride, mask }: BandSamples, runs: Runs, bins: Uint32Array, first: number): void {
  for (let r = 0; r < runs.length; r += 2) {
    const from = runs[r]!
    const end = runs[r + 1]!
    if (mask) {
      for (let pixel = from; pixel < end; pixel++) if (mask[pixel] !== 0) bins[samples[pixel * stride + start]! - first]! += 1
    } else {
      const last = end * stride + start
      for (let i = from * stride + start; i < last; i += stride) bins[samples[i]! - first]! += 1
    }
  }
}

/** Collected samples, with their sum and range so far. */
export interface Collected {
  readonly values: SampleArray
  count: number
  total: number
  min: number
  max: number
}

/** Appends the samples of the runs with data, and updates their sum, run by run, and their range. */
export function collectRuns({ samples, start, stride, mask }: BandSamples, runs: Runs, nodata: number | null, into: Collected): void {
  const marker = nodata ?? Number.NaN
  const { values } = into
  let { count, min, max } = into
  for (let r = 0; r < runs.length; r += 2) {
    const end = ((runs[r + 1]! * stride) | 0) + start
    let total = 0
    for (let i = ((runs[r]! * stride) | 0) + start, pixel = runs[r]!; i < end; i += stride, pixel++) {
      const value = samples[i]!
      if (value === marker || value - value !== 0) continue
      if (mask !== null && mask[pixel] === 0) continue
      values[count] = value
      count += 1
      total += value
      if (value < min) min = value
      if (value > max) max = value
    }
    into.total += total
  }
  into.count = count
  into.min = min
  into.max = max
}

/** The sum and the range of samples that were collected elsewhere. */
export function totalAndRange({ values }: Collected, range: { min: number; max: number }, from: number, to: number): number {
  let { min, max } = range
  let total = 0
  for (let i = from; i < to; i++) {
    const value = values[i]!
    total += value
    if (value < min) min = value
    if (value > max) max = value
  }
  range.min = min
  range.max = max
  return total
}

/** Fine bins of equal width over the range of the samples. */
export interface FineBins {
  low: number
  perUnit: number
  counts: Uint32Array
}

/** NaN (a range of one value, or one too wide for a double) falls into the first bin. */
export const fineBin = ({ low, perUnit }: FineBins, value: number): number => ((value - low) * perUnit) | 0

/** Counts samples in fine bins; returns the sum of squared distances to the mean. */
export function countAndSquare({ values }: Collected, { low, perUnit, counts }: FineBins, mean: number, from: number, to: number): number {
  let total = 0
  for (let i = from; i < to; i++) {
    const value = values[i]!
    const distance = value - mean
    total += distance * distance
    counts[((value - low) * perUnit) | 0]! += 1
  }
  return total
}

/** Copies the samples of the selected bins; `looked` has exactly the space for them. */
export function gather({ values, count }: Collected, { low, perUnit }: FineBins, wanted: Uint8Array, looked: Float64Array): void {
  let to = 0
  for (let i = 0; i < count && to < looked.length; i++) {
    const value = values[i]!
    if (wanted[((value - low) * perUnit) | 0] !== 0) looked[to++] = value
  }
}
