import { columnWeights, MOST_COLUMNS, type ColumnWeights } from './columns.ts'
import { firstFineRow, type ReduceShape, type RowReducer, type RowView } from './row-reducer.ts'
import type { SampleArray } from '#raster/types.ts'

/**
 * The average of `AverageReducer` for integers without mask or alpha, which is most imagery. All weights and sums are integers far
 * below 2^53, so that rows can be summed before columns: a plain loop over the samples of a row, and one pass over the columns per
 * coarse row instead of per fine row. Both give the same samples.
 */
export class IntegerAverageReducer implements RowReducer {
  readonly #shape: ReduceShape
  readonly #columns: ColumnWeights
  readonly #sums: Accumulator
  /** Fine rows of the current coarse row, with their weights. The buffers are reused. */
  readonly #rows: SampleArray[] = []
  readonly #rowWeights: number[] = []
  #fineRow = 0
  #coarseRow = 0
  /** The current coarse row belongs to somebody else, who has its earlier fine rows. */
  #isPartial = false

  constructor(shape: ReduceShape) {
    this.#shape = shape
    this.#columns = columnWeights(shape.fine.width, shape.coarse.width)
    const samples = shape.fine.width * shape.bandCount
    this.#sums = { sums: new Float64Array(samples), weights: new Float64Array(samples) }
  }

  startAt(coarseRow: number): number {
    const { fine, coarse } = this.#shape
    this.#fineRow = firstFineRow(this.#shape, coarseRow)
    this.#isPartial = this.#fineRow * coarse.height < coarseRow * fine.height
    this.#coarseRow = this.#isPartial ? coarseRow - 1 : coarseRow
    return this.#fineRow
  }

  push(row: RowView, out: RowView): boolean {
    const { fine, coarse, bandCount, nodata } = this.#shape
    const start = this.#fineRow * coarse.height
    const end = start + coarse.height
    const border = (this.#coarseRow + 1) * fine.height
    const samples = row.samples.subarray(row.sampleAt, row.sampleAt + fine.width * bandCount) as SampleArray
    this.#keep(samples, Math.min(end, border) - start)
    this.#fineRow++
    if (end < border) return false
    addRows(this.#rows, this.#rowWeights, nodata ?? Number.NaN, this.#sums)
    finishRow(this.#sums, this.#columns, bandCount, nodata ?? 0, out.samples.subarray(out.sampleAt) as SampleArray)
    this.#rowWeights.length = 0
    if (end > border) this.#keep(samples, end - border)
    this.#coarseRow++
    const isComplete = !this.#isPartial
    this.#isPartial = false
    return isComplete
  }

  /** A copy, because the buffer of the rows can be reused before the next one arrives. */
  #keep(samples: SampleArray, weight: number): void {
    const place = this.#rowWeights.push(weight) - 1
    const known = this.#rows[place]
    if (known) known.set(samples)
    else this.#rows[place] = samples.slice()
  }
}

interface Accumulator {
  /** One per fine sample. */
  readonly sums: Float64Array
  readonly weights: Float64Array
}

/** Up to three rows, without nodata. If there are fewer, the first is repeated with weight 0. */
function addRows(rows: readonly SampleArray[], rowWeights: readonly number[], nodata: number, { sums, weights }: Accumulator): void {
  const [first, second = first, third = first] = rows.slice(0, rowWeights.length)
  const [w0 = 0, w1 = 0, w2 = 0] = rowWeights
  if (!first || !second || !third) return
  for (let i = 0; i < sums.length; i++) {
    const a = first[i]!
    const b = second[i]!
    const c = third[i]!
    let sum = 0
    let weight = 0
    if (a !== nodata) {
      sum += a * w0
      weight += w0
    }
    if (b !== nodata) {
      sum += b * w1
      weight += w1
    }
    if (c !== nodata) {
      sum += c * w2
      weight += w2
    }
    sums[i] = sum
    weights[i] = weight
  }
}

function finishRow({ sums, weights }: Accumulator, columns: ColumnWeights, bandCount: number, empty: number, target: SampleArray): void {
  for (let x = 0, to = 0; x < columns.first.length; x++) {
    const at = x * MOST_COLUMNS
    const w0 = columns.weights[at]!
    const w1 = columns.weights[at + 1]!
    const w2 = columns.weights[at + 2]!
    const from = columns.first[x]! * bandCount
    // Columns outside a coarse one have weight 0; the first is read again for them, since there may be no further one.
    const second = columns.count[x]! > 1 ? from + bandCount : from
    const third = columns.count[x]! > 2 ? from + 2 * bandCount : from
    for (let band = 0; band < bandCount; band++, to++) {
      const weight = weights[from + band]! * w0 + weights[second + band]! * w1 + weights[third + band]! * w2
      const sum = sums[from + band]! * w0 + sums[second + band]! * w1 + sums[third + band]! * w2
      target[to] = weight > 0 ? Math.floor(sum / weight + 0.5) : empty
    }
  }
}
