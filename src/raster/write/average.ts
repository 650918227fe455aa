import { isBigArray } from '#raster/tiff/sample.ts'
import type { ExactSampleArray, SampleArray } from '#raster/types.ts'
import { columnWeights, MOST_COLUMNS, type ColumnWeights } from '#raster/write/columns.ts'
import { firstFineRow, type ReduceShape, type RowReducer, type RowView } from '#raster/write/row-reducer.ts'

/**
 * Box average of the data. Widths are counted in units of 1/(fine·coarse) of a side, so that all
 * weights are integers and nothing is lost where two coarse pixels share a fine one.
 */
export class AverageReducer implements RowReducer {
  readonly #shape: ReduceShape
  readonly #columns: ColumnWeights
  readonly #numbers: Float64Array
  #current: Accumulator
  #next: Accumulator
  #fineRow = 0
  #coarseRow = 0
  /** The current coarse row belongs to somebody else, who has its earlier fine rows. */
  #isPartial = false

  constructor(shape: ReduceShape) {
    this.#shape = shape
    this.#columns = columnWeights(shape.fine.width, shape.coarse.width)
    const samples = shape.coarse.width * shape.bandCount
    this.#current = emptyAccumulator(samples, shape.coarse.width)
    this.#next = emptyAccumulator(samples, shape.coarse.width)
    this.#numbers = new Float64Array(shape.fine.width * shape.bandCount)
  }

  startAt(coarseRow: number): number {
    const { fine, coarse } = this.#shape
    this.#fineRow = firstFineRow(this.#shape, coarseRow)
    this.#isPartial = this.#fineRow * coarse.height < coarseRow * fine.height
    this.#coarseRow = this.#isPartial ? coarseRow - 1 : coarseRow
    return this.#fineRow
  }

  push(row: RowView, out: RowView): boolean {
    const fineUnits = this.#shape.coarse.height
    const coarseUnits = this.#shape.fine.height
    const start = this.#fineRow * fineUnits
    const end = start + fineUnits
    const border = (this.#coarseRow + 1) * coarseUnits
    const samples = this.#asNumbers(row)
    this.#add(samples, row, this.#current, Math.min(end, border) - start)
    if (end > border) this.#add(samples, row, this.#next, end - border)
    this.#fineRow++
    if (end < border) return false
    this.#finish(out)
    this.#coarseRow++
    const isComplete = !this.#isPartial
    this.#isPartial = false
    return isComplete
  }

  /** 64-bit integers are averaged as doubles; other samples are read in place. */
  #asNumbers({ samples, sampleAt }: RowView): SampleArray {
    const count = this.#numbers.length
    if (!isBigArray(samples)) return samples.subarray(sampleAt, sampleAt + count)
    for (let i = 0; i < count; i++) this.#numbers[i] = Number(samples[sampleAt + i])
    return this.#numbers
  }

  #add(samples: SampleArray, row: RowView, into: Accumulator, rowWeight: number): void {
    const { nodata, alphaBand, isFloat, bandCount } = this.#shape
    const mask = row.mask?.subarray(row.maskAt, row.maskAt + this.#shape.fine.width) ?? null
    if (nodata === null && alphaBand === null && mask === null && !isFloat) {
      addAll({ samples, bandCount }, this.#columns, into, rowWeight)
      return
    }
    addValid({ samples, bandCount, mask, nodata: nodata ?? NaN, alphaBand }, this.#columns, into, rowWeight)
  }

  #finish(out: RowView): void {
    const { sums, weights, seen } = this.#current
    const { nodata, isFloat } = this.#shape
    const empty = nodata ?? (isFloat ? NaN : 0)
    for (let i = 0; i < sums.length; i++) {
      const weight = weights[i] ?? 0
      const mean = weight > 0 ? (sums[i] ?? 0) / weight : empty
      store(out.samples, out.sampleAt + i, isFloat || weight === 0 ? mean : Math.floor(mean + 0.5))
    }
    out.mask?.set(seen, out.maskAt)
    sums.fill(0)
    weights.fill(0)
    seen.fill(0)
    ;[this.#current, this.#next] = [this.#next, this.#current]
  }
}

interface Accumulator {
  readonly sums: Float64Array
  readonly weights: Float64Array
  /** 255 if any part of a coarse pixel is visible. */
  readonly seen: Uint8Array
}

function emptyAccumulator(samples: number, pixels: number): Accumulator {
  return { sums: new Float64Array(samples), weights: new Float64Array(samples), seen: new Uint8Array(pixels) }
}

function addAll(row: { samples: SampleArray; bandCount: number }, columns: ColumnWeights, into: Accumulator, rowWeight: number): void {
  const { samples, bandCount } = row
  const { sums, weights } = into
  into.seen.fill(255)
  for (let x = 0, to = 0; x < columns.first.length; x++, to += bandCount) {
    const from = (columns.first[x] ?? 0) * bandCount
    const n = columns.count[x] ?? 0
    for (let k = 0; k < n; k++) {
      const weight = (columns.weights[x * MOST_COLUMNS + k] ?? 0) * rowWeight
      for (let band = 0; band < bandCount; band++) {
        sums[to + band]! += (samples[from + k * bandCount + band] ?? 0) * weight
        weights[to + band]! += weight
      }
    }
  }
}

interface ValidRow {
  readonly samples: SampleArray
  readonly bandCount: number
  readonly mask: Uint8Array | null
  /** NaN without a nodata value: nothing equals it, and NaN samples never count. */
  readonly nodata: number
  readonly alphaBand: number | null
}

function addValid(row: ValidRow, columns: ColumnWeights, into: Accumulator, rowWeight: number): void {
  const { samples, bandCount, mask, nodata, alphaBand } = row
  for (let x = 0, to = 0; x < columns.first.length; x++, to += bandCount) {
    const first = columns.first[x] ?? 0
    const n = columns.count[x] ?? 0
    for (let k = 0; k < n; k++) {
      const pixel = first + k
      if (mask && !mask[pixel]) continue
      into.seen[x] = 255
      const weight = (columns.weights[x * MOST_COLUMNS + k] ?? 0) * rowWeight
      const isHidden = alphaBand !== null && !samples[pixel * bandCount + alphaBand]
      for (let band = 0; band < bandCount; band++) {
        const value = samples[pixel * bandCount + band] ?? NaN
        // value - value is 0 only for finite numbers.
        if (value === nodata || value - value !== 0 || (isHidden && band !== alphaBand)) continue
        into.sums[to + band]! += value * weight
        into.weights[to + band]! += weight
      }
    }
  }
}

function store(samples: ExactSampleArray, at: number, value: number): void {
  if (isBigArray(samples)) samples[at] = Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n
  else samples[at] = value
}
