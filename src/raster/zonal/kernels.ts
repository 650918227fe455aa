/**
 * The loop over the pixels of one zone in one block, for one array type. Loaded once per type, as `warp/instances.ts`
 * explains.
 */
import type { SampleArray } from '#raster/types.ts'

/** One band of a block. */
export interface Samples {
  samples: SampleArray
  start: number
  stride: number
  /** Pixels per row of the block. */
  width: number
  /** 0 for no-data pixels. */
  mask: Uint8Array | null
  nodata: number | null
}

/** The part of a block with a zone, and the differences of its coverage there (`addCoverage`). */
export interface Part {
  left: number
  top: number
  width: number
  height: number
  sums: Float64Array
  /** Row stride of `sums` in cells. */
  stride: number
  /** A smaller fraction of a pixel is ignored. */
  sliver: number
}

/** Where the results of one part go: weight, sum of distances, sum of squared distances, least, most, origin, weight with no-data. */
export const MOMENTS = 7

/** Buffers for single values: whole pixels from the front, partly covered ones with their weights. */
export interface Kept {
  whole: Float64Array
  wholeCount: number
  parts: Float64Array
  weights: Float64Array
  partCount: number
}

/**
 * Describes the pixels of a part and resets its differences to zero for the next zone. Squares are taken of distances
 * from the first value, to keep their precision.
 */
export function describePart(band: Samples, part: Part, moments: Float64Array, kept: Kept | null): void {
  const { samples, start, stride, mask } = band
  const { width, height, sums, sliver } = part
  const whole = 1 - sliver
  const nodata = band.nodata ?? Number.NaN
  let [weight, first, second, low, high, origin, covered] = [0, 0, 0, Infinity, -Infinity, 0, 0]
  let wholeCount = kept ? kept.wholeCount : 0
  let partCount = kept ? kept.partCount : 0
  for (let row = 0; row < height; row++) {
    const base = row * part.stride
    let pixel = (part.top + row) * band.width + part.left
    let share = 0
    for (let column = 0; column < width; column++, pixel++) {
      share += sums[base + column]!
      sums[base + column] = 0
      if (share < sliver) continue
      const inside = share > whole ? 1 : share
      covered += inside
      const value = samples[pixel * stride + start]!
      if (value === nodata || value - value !== 0) continue
      if (mask !== null && mask[pixel] === 0) continue
      if (weight === 0) origin = value
      const distance = value - origin
      weight += inside
      first += inside * distance
      second += inside * distance * distance
      if (value < low) low = value
      if (value > high) high = value
      if (kept === null) continue
      if (inside === 1) kept.whole[wholeCount++] = value
      else {
        kept.parts[partCount] = value
        kept.weights[partCount++] = inside
      }
    }
    sums[base + width] = 0
    sums[base + width + 1] = 0
  }
  if (kept) {
    kept.wholeCount = wholeCount
    kept.partCount = partCount
  }
  moments[0] = weight
  moments[1] = first
  moments[2] = second
  moments[3] = low
  moments[4] = high
  moments[5] = origin
  moments[6] = covered
}
