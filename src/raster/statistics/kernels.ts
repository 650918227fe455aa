/**
 * Loops over samples of one data type, for statistics. Loaded once for each type, as `warp/instances.ts` explains.
 */
import type { SampleArray } from '#raster/types.ts'

/** Which samples count: those with a weight above 0 that are data. */
export interface Selection {
  /** 0 where a sample does not count; null when all do. */
  mask: Uint8Array | null
  nodata: number | null
  /** The part of each pixel that a polygon covers; null for whole pixels. */
  weights: Float64Array | null
}

/** Copies the samples that count, and their weights, to the front of the outputs; gives how many. */
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

/** Counts (or weighs) each value of an 8- or 16-bit type; `bins[k]` belongs to the value `first + k`. */
export function countValues(samples: SampleArray, selection: Selection, bins: Float64Array, first: number): void {
  const { mask, weights } = selection
  const nodata = selection.nodata ?? Number.NaN
  for (let i = 0; i < samples.length; i++) {
    if (mask && mask[i] === 0) continue
    const value = samples[i]!
    if (value === nodata) continue
    const bin = value - first
    bins[bin] = bins[bin]! + (weights ? weights[i]! : 1)
  }
}
