import { isBigArray } from '#raster/tiff/sample.ts'
import type { ExactSampleArray, SampleArray } from '#raster/types.ts'
import { AverageReducer } from '#raster/write/average.ts'
import { IntegerAverageReducer } from './average-integers.ts'
import type { ReduceShape, RowReducer, RowView } from '#raster/write/row-reducer.ts'

/**
 * Average for even sides, which is most of the work: every coarse pixel is the mean of exactly four fine
 * ones, so that two rows in memory are enough.
 */
class HalvingReducer implements RowReducer {
  readonly #shape: ReduceShape
  readonly #upper: { samples: SampleArray | null; mask: Uint8Array | null } = { samples: null, mask: null }
  #isLower = false

  constructor(shape: ReduceShape) {
    this.#shape = shape
  }

  startAt(coarseRow: number): number {
    return 2 * coarseRow
  }

  push(row: RowView, out: RowView): boolean {
    const { width } = this.#shape.fine
    const samples = numbersOf(row.samples).subarray(row.sampleAt, row.sampleAt + width * this.#shape.bandCount)
    const mask = row.mask?.subarray(row.maskAt, row.maskAt + width) ?? null
    this.#isLower = !this.#isLower
    const upper = this.#upper
    if (this.#isLower) {
      // The buffer of the rows can be reused before the next one arrives.
      if (upper.samples?.length === samples.length) upper.samples.set(samples)
      else upper.samples = samples.slice()
      upper.mask = mask?.slice() ?? null
      return false
    }
    if (upper.samples) this.#emit({ upper: upper.samples, lower: samples, upperMask: upper.mask, lowerMask: mask }, out)
    return true
  }

  #emit(rows: FineRows, out: RowView): void {
    const { bandCount, nodata, alphaBand, isFloat, coarse } = this.#shape
    const target = { samples: numbersOf(out.samples), at: out.sampleAt, count: coarse.width, bandCount }
    const isHidden = alphaBand !== null || rows.upperMask !== null || rows.lowerMask !== null
    if (isHidden) meanOfValid(rows, target, this.#shape)
    else if (isFloat) meanOfFloats(rows, target, nodata ?? Number.NaN)
    else if (nodata === null) meanOfFour(rows, target)
    else if (bandCount === 4 && rows.upper.BYTES_PER_ELEMENT <= 2) meanOfFourBands(rows, target, nodata)
    else meanOfIntegers(rows, target, nodata)
    if (out.mask) writeMask(rows, out.mask, out.maskAt, coarse.width)
  }
}

/** The plain average for even sides; a weighted one for odd sides and 64-bit integers. */
export function averageReducer(shape: ReduceShape, isWide: boolean, hasMask: boolean): RowReducer {
  const { fine, coarse } = shape
  const isEven = fine.width === 2 * coarse.width && fine.height === 2 * coarse.height
  const isPlain = !isWide && !hasMask && !shape.isFloat && shape.alphaBand === null
  if (isPlain && !isEven) return new IntegerAverageReducer(shape)
  return isEven && !isWide ? new HalvingReducer(shape) : new AverageReducer(shape)
}

interface FineRows {
  readonly upper: SampleArray
  readonly lower: SampleArray
  readonly upperMask: Uint8Array | null
  readonly lowerMask: Uint8Array | null
}

interface CoarseRow {
  readonly samples: SampleArray
  readonly at: number
  readonly count: number
  readonly bandCount: number
}

/** Integers without nodata, rounded half up. */
function meanOfFour({ upper, lower }: FineRows, { samples, at, count, bandCount }: CoarseRow): void {
  let to = at
  for (let x = 0; x < count; x++) {
    let from = 2 * x * bandCount
    for (const end = from + bandCount; from < end; from++, to++) {
      const sum = (upper[from] ?? 0) + (upper[from + bandCount] ?? 0) + (lower[from] ?? 0) + (lower[from + bandCount] ?? 0)
      samples[to] = Math.floor((sum + 2) / 4)
    }
  }
}

/** Four bands of 8 or 16 bits, most imagery, ignoring nodata: sums fit a small integer, and a shift rounds them down. */
function meanOfFourBands({ upper, lower }: FineRows, { samples, at, count }: CoarseRow, nodata: number): void {
  for (let from = 0, to = at, end = at + 4 * count; to < end; from += 4)
    for (let k = 0; k < 4; k++, from++, to++) {
      const a = upper[from]!
      const b = upper[from + 4]!
      const c = lower[from]!
      const d = lower[from + 4]!
      if (a !== nodata && b !== nodata && c !== nodata && d !== nodata) samples[to] = (a + b + c + d + 2) >> 2
      else samples[to] = Math.floor(meanOfSome([a, b, c, d], nodata) + 0.5)
    }
}

/** Integers, ignoring nodata. */
function meanOfIntegers({ upper, lower }: FineRows, { samples, at, count, bandCount }: CoarseRow, nodata: number): void {
  let to = at
  for (let x = 0; x < count; x++) {
    let from = 2 * x * bandCount
    for (const end = from + bandCount; from < end; from++, to++) {
      const a = upper[from]!
      const b = upper[from + bandCount]!
      const c = lower[from]!
      const d = lower[from + bandCount]!
      if (a !== nodata && b !== nodata && c !== nodata && d !== nodata) samples[to] = Math.floor((a + b + c + d + 2) / 4)
      else samples[to] = Math.floor(meanOfSome([a, b, c, d], nodata) + 0.5)
    }
  }
}

/** Floats, ignoring nodata and non-finite values. */
function meanOfFloats({ upper, lower }: FineRows, { samples, at, count, bandCount }: CoarseRow, nodata: number): void {
  let to = at
  for (let x = 0; x < count; x++) {
    let from = 2 * x * bandCount
    for (const end = from + bandCount; from < end; from++, to++) {
      const a = upper[from]!
      const b = upper[from + bandCount]!
      const c = lower[from]!
      const d = lower[from + bandCount]!
      const sum = a + b + c + d
      // sum - sum is 0 only if all are finite.
      if (sum - sum === 0 && a !== nodata && b !== nodata && c !== nodata && d !== nodata) samples[to] = sum / 4
      else samples[to] = meanOfSome([a, b, c, d], nodata)
    }
  }
}

function meanOfSome(values: readonly number[], nodata: number): number {
  let [sum, n] = [0, 0]
  for (let k = 0; k < 4; k++) {
    const value = values[k]!
    if (value === nodata || value - value !== 0) continue
    sum += value
    n++
  }
  return n === 0 ? nodata : sum / n
}

/** Ignores nodata, non-finite values, and pixels hidden by mask or alpha. */
function meanOfValid(rows: FineRows, target: CoarseRow, shape: ReduceShape): void {
  const { nodata, alphaBand, isFloat, bandCount } = shape
  const empty = nodata ?? (isFloat ? NaN : 0)
  const values = [0, 0, 0, 0]
  const visible = [true, true, true, true]
  for (let x = 0; x < target.count; x++) {
    const left = 2 * x
    setVisible(rows, visible, { left, bandCount, alphaBand })
    for (let band = 0; band < bandCount; band++) {
      const from = left * bandCount + band
      values[0] = rows.upper[from] ?? 0
      values[1] = rows.upper[from + bandCount] ?? 0
      values[2] = rows.lower[from] ?? 0
      values[3] = rows.lower[from + bandCount] ?? 0
      let sum = 0
      let n = 0
      for (let k = 0; k < 4; k++) {
        const value = values[k] ?? 0
        const isShown = visible[k] || (band === alphaBand && isMaskOpen(rows, left, k))
        // value - value is 0 only for finite numbers.
        if (!isShown || value === nodata || value - value !== 0) continue
        sum += value
        n++
      }
      const mean = n === 0 ? empty : sum / n
      target.samples[target.at + x * bandCount + band] = isFloat || n === 0 ? mean : Math.floor(mean + 0.5)
    }
  }
}

function setVisible(rows: FineRows, visible: boolean[], at: { left: number; bandCount: number; alphaBand: number | null }): void {
  const { left, bandCount, alphaBand } = at
  for (let k = 0; k < 4; k++) {
    const samples = k < 2 ? rows.upper : rows.lower
    const isOpaque = alphaBand === null || samples[(left + (k & 1)) * bandCount + alphaBand] !== 0
    visible[k] = isOpaque && isMaskOpen(rows, left, k)
  }
}

/** Whether the mask shows the k-th of the four fine pixels: upper left, upper right, lower left, lower right. */
function isMaskOpen({ upperMask, lowerMask }: FineRows, left: number, k: number): boolean {
  const mask = k < 2 ? upperMask : lowerMask
  return mask === null || mask[left + (k & 1)] !== 0
}

function writeMask(rows: FineRows, mask: Uint8Array, at: number, count: number): void {
  for (let x = 0; x < count; x++) {
    let isSeen = false
    for (let k = 0; k < 4; k++) isSeen ||= isMaskOpen(rows, 2 * x, k)
    mask[at + x] = isSeen ? 255 : 0
  }
}

function numbersOf(samples: ExactSampleArray): SampleArray {
  if (isBigArray(samples)) throw new TypeError('64-bit integers have their own average')
  return samples
}
