/**
 * Loops over samples of one data type, for statistics. Loaded once for each type, as `warp/instances.ts` explains.
 */
import type { SampleArray } from '#raster/types.ts'

/** Which samples count: those with a weight above 0 that are data. */
export interface Selection {
  /** From the file: 0 is no data. Null when all are data. */
  mask: Uint8Array | null
  nodata: number | null
  /** From the polygon: 0 outside, 1 inside, between on its edge. Null when there is no polygon. */
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
