import { columnWeights, MOST_COLUMNS, type ColumnWeights } from './columns.ts'
import type { ReduceShape, RowReducer, RowView } from './row-reducer.ts'
import type { SampleArray } from '#raster/types.ts'

/**
 * The average of `AverageReducer` for integers without mask or alpha, which is most imagery. All weights and sums are whole
 * numbers far below 2^53, so that rows may be added up before columns are: a plain loop over the samples of a row, and one look at
 * the columns for each coarse row instead of each fine one. Both give the same samples.
 */
export class IntegerAverageReducer implements RowReducer {
  readonly #shape: ReduceShape
  readonly #columns: ColumnWeights
  #current: Accumulator
  #next: Accumulator
  #fineRow = 0
  #coarseRow = 0

  constructor(shape: ReduceShape) {
    this.#shape = shape
    this.#columns = columnWeights(shape.fine.width, shape.coarse.width)
    const samples = shape.fine.width * shape.bandCount
    this.#current = emptyAccumulator(samples)
    this.#next = emptyAccumulator(samples)
  }

  push(row: RowView, out: RowView): boolean {
    const { fine, coarse, bandCount, nodata } = this.#shape
    const start = this.#fineRow * coarse.height
    const end = start + coarse.height
    const border = (this.#coarseRow + 1) * fine.height
    const samples = row.samples.subarray(row.sampleAt, row.sampleAt + fine.width * bandCount) as SampleArray
    addRow(samples, nodata, this.#current, Math.min(end, border) - start)
    if (end > border) addRow(samples, nodata, this.#next, end - border)
    this.#fineRow++
    if (end < border) return false
    this.#finish(out)
    this.#coarseRow++
    return true
  }

  #finish(out: RowView): void {
    const { bandCount, nodata } = this.#shape
    const target = out.samples.subarray(out.sampleAt) as SampleArray
    finishRow(this.#current, this.#columns, bandCount, nodata ?? 0, target)
    const done = this.#current
    done.sums.fill(0)
    done.weights.fill(0)
    this.#current = this.#next
    this.#next = done
  }
}

interface Accumulator {
  /** For each fine sample. */
  readonly sums: Float64Array
  readonly weights: Float64Array
}

const emptyAccumulator = (samples: number): Accumulator => ({ sums: new Float64Array(samples), weights: new Float64Array(samples) })

function addRow(samples: SampleArray, nodata: number | null, { sums, weights }: Accumulator, rowWeight: number): void {
  if (nodata === null) {
    for (let i = 0; i < samples.length; i++) {
      sums[i]! += samples[i]! * rowWeight
      weights[i]! += rowWeight
    }
    return
  }
  for (let i = 0; i < samples.length; i++) {
    const value = samples[i]!
    if (value === nodata) continue
    sums[i]! += value * rowWeight
    weights[i]! += rowWeight
  }
}

function finishRow({ sums, weights }: Accumulator, columns: ColumnWeights, bandCount: number, empty: number, target: SampleArray): void {
  for (let x = 0, to = 0; x < columns.first.length; x++) {
    const at = x * MOST_COLUMNS
    const w0 = columns.weights[at]!
    const w1 = columns.weights[at + 1]!
    const w2 = columns.weights[at + 2]!
    const from = columns.first[x]! * bandCount
    // Columns that a coarse one does not reach weigh 0; the first is read again for them, since there may be none behind it.
    const second = columns.count[x]! > 1 ? from + bandCount : from
    const third = columns.count[x]! > 2 ? from + 2 * bandCount : from
    for (let band = 0; band < bandCount; band++, to++) {
      const weight = weights[from + band]! * w0 + weights[second + band]! * w1 + weights[third + band]! * w2
      const sum = sums[from + band]! * w0 + sums[second + band]! * w1 + sums[third + band]! * w2
      target[to] = weight > 0 ? Math.floor(sum / weight + 0.5) : empty
    }
  }
}
