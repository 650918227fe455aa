import { isBigArray } from '#raster/tiff/sample.ts'
import type { ExactSampleArray, SampleArray } from '#raster/types.ts'
import { firstFineRow, type ReduceShape, type RowReducer, type RowView } from '#raster/write/row-reducer.ts'

/**
 * Nearest and mode: each coarse pixel has the value of a fine one, for classes, palettes and flags.
 * Nearest takes the fine pixel under the coarse one's centre; mode takes the most frequent sample of the
 * up to four fine pixels whose centres the coarse one covers, the first one if two are equally frequent.
 */
export class PickReducer implements RowReducer {
  readonly #shape: ReduceShape
  readonly #isMode: boolean
  readonly #columns: Spans
  readonly #rows: Spans
  /** The first of the two fine rows that a coarse row can cover. */
  #held: HeldRow | null = null
  #fineRow = 0
  #coarseRow = 0

  constructor(shape: ReduceShape, isMode: boolean) {
    this.#shape = shape
    this.#isMode = isMode
    const span = isMode ? coveredSpans : centreSpans
    this.#columns = span(shape.fine.width, shape.coarse.width)
    this.#rows = span(shape.fine.height, shape.coarse.height)
  }

  startAt(coarseRow: number): number {
    this.#coarseRow = coarseRow
    this.#fineRow = Math.min(firstFineRow(this.#shape, coarseRow), this.#rows.first[coarseRow] ?? 0)
    return this.#fineRow
  }

  push(row: RowView, out: RowView): boolean {
    const y = this.#fineRow++
    const first = this.#rows.first[this.#coarseRow] ?? 0
    const last = first + (this.#rows.count[this.#coarseRow] ?? 1) - 1
    if (y < first || this.#coarseRow >= this.#shape.coarse.height) return false
    if (y < last) {
      // A copy, because the buffer of the rows is reused before the next row arrives.
      this.#held = copyRow(row, this.#shape)
      return false
    }
    const current = viewRow(row, this.#shape)
    const rows = this.#held ? [this.#held, current] : [current]
    if (this.#isMode && isPlain(rows))
      modeOfIntegers(rows, this.#columns, { to: out.samples as SampleArray, at: out.sampleAt }, this.#shape)
    else if (this.#isMode) this.#emitMode(rows, out)
    else this.#emitNearest(current, out)
    this.#held = null
    this.#coarseRow++
    return true
  }

  #emitNearest(row: HeldRow, out: RowView): void {
    const { bandCount, coarse } = this.#shape
    const source = asIndexed(row.samples)
    const target = asIndexed(out.samples)
    for (let x = 0; x < coarse.width; x++) {
      const pixel = this.#columns.first[x] ?? 0
      for (let band = 0; band < bandCount; band++) target[out.sampleAt + x * bandCount + band] = source[pixel * bandCount + band] ?? 0
      if (out.mask) out.mask[out.maskAt + x] = !row.mask || row.mask[pixel] ? 255 : 0
    }
  }

  #emitMode(rows: readonly HeldRow[], out: RowView): void {
    const { bandCount, coarse, nodata } = this.#shape
    const target = asIndexed(out.samples)
    const votes = new Votes(nodata)
    for (let x = 0; x < coarse.width; x++) {
      const first = this.#columns.first[x] ?? 0
      const end = first + (this.#columns.count[x] ?? 1)
      let isSeen = false
      for (let band = 0; band < bandCount; band++) {
        votes.clear()
        for (const row of rows) {
          const source = asIndexed(row.samples)
          for (let pixel = first; pixel < end; pixel++) {
            const value = source[pixel * bandCount + band] ?? 0
            const isValid = !row.mask || row.mask[pixel] !== 0
            isSeen ||= isValid
            votes.add(value, isValid)
          }
        }
        target[out.sampleAt + x * bandCount + band] = votes.winner()
      }
      if (out.mask) out.mask[out.maskAt + x] = isSeen ? 255 : 0
    }
  }
}

type Sample = number | bigint

/** Counts up to four samples. No-data loses against any class, masked pixels against both. */
class Votes {
  readonly #nodata: number | null
  readonly #values: Sample[] = [0, 0, 0, 0]
  readonly #ranks: number[] = [0, 0, 0, 0]
  #count = 0

  constructor(nodata: number | null) {
    this.#nodata = nodata
  }

  clear(): void {
    this.#count = 0
  }

  add(value: Sample, isValid: boolean): void {
    this.#values[this.#count] = value
    this.#ranks[this.#count] = !isValid ? 0 : this.#isNodata(value) ? 1 : 2
    this.#count++
  }

  /** The highest rank first, then the most votes, then the first seen. */
  winner(): Sample {
    let best: Sample = this.#values[0] ?? 0
    let bestScore = -1
    for (let i = 0; i < this.#count; i++) {
      const value = this.#values[i] ?? 0
      const rank = this.#ranks[i] ?? 0
      let same = 0
      for (let k = 0; k < this.#count; k++) if (this.#ranks[k] === rank && Object.is(this.#values[k], value)) same++
      const score = rank * 8 + same
      if (score > bestScore) {
        best = value
        bestScore = score
      }
    }
    return best
  }

  #isNodata(value: Sample): boolean {
    if (this.#nodata === null) return false
    const number = Number(value)
    return number === this.#nodata || (Number.isNaN(number) && Number.isNaN(this.#nodata))
  }
}

interface HeldRow {
  readonly samples: ExactSampleArray
  readonly mask: Uint8Array | null
}

interface Spans {
  readonly first: Uint32Array
  readonly count: Uint8Array
}

function viewRow(row: RowView, shape: ReduceShape): HeldRow {
  const { width } = shape.fine
  return {
    samples: row.samples.subarray(row.sampleAt, row.sampleAt + width * shape.bandCount),
    mask: row.mask?.subarray(row.maskAt, row.maskAt + width) ?? null,
  }
}

function copyRow(row: RowView, shape: ReduceShape): HeldRow {
  const { samples, mask } = viewRow(row, shape)
  return { samples: samples.slice(), mask: mask?.slice() ?? null }
}

/** Whether samples are integers that `===` compares, and no pixel is masked. */
const isPlain = (rows: readonly HeldRow[]): boolean =>
  rows.every(
    ({ samples, mask }) => !mask && !isBigArray(samples) && !(samples instanceof Float32Array) && !(samples instanceof Float64Array),
  )

/** The same as `Votes`, without objects: of one or two pixels, each counts twice or four times, which changes no majority. */
function modeOfIntegers(
  rows: readonly HeldRow[],
  columns: Spans,
  { to, at }: { to: SampleArray; at: number },
  { bandCount, coarse, nodata }: ReduceShape,
): void {
  const upper = rows[0]!.samples as SampleArray
  const lower = rows.at(-1)!.samples as SampleArray
  const missing = nodata ?? Number.NaN
  for (let x = 0, out = at; x < coarse.width; x++) {
    const left = columns.first[x]! * bandCount
    const right = left + (columns.count[x]! - 1) * bandCount
    for (let band = 0; band < bandCount; band++, out++) {
      const a = upper[left + band]!
      const b = upper[right + band]!
      const c = lower[left + band]!
      const d = lower[right + band]!
      to[out] = a === b && a === c && a === d ? a : modeOfFour(a, b, c, d, missing)
    }
  }
}

/** No-data loses against any class; of equally frequent ones the first wins. */
function modeOfFour(a: number, b: number, c: number, d: number, missing: number): number {
  const forA = votes(a, b, c, d, missing)
  const forB = votes(b, a, c, d, missing)
  const forC = votes(c, a, b, d, missing)
  const forD = votes(d, a, b, c, missing)
  const [upper, most] = forB > forA ? [b, forB] : [a, forA]
  const [lower, others] = forD > forC ? [d, forD] : [c, forC]
  return others > most ? lower : upper
}

/** More than all four votes for no-data. */
const CLASS_RANK = 8

/** Votes for one of four values, given the other three. */
function votes(value: number, x: number, y: number, z: number, missing: number): number {
  const count = 1 + (value === x ? 1 : 0) + (value === y ? 1 : 0) + (value === z ? 1 : 0)
  return value === missing ? count : count + CLASS_RANK
}

function centreSpans(fine: number, coarse: number): Spans {
  const first = Uint32Array.from({ length: coarse }, (_, i) => Math.min(fine - 1, Math.floor(((i + 0.5) * fine) / coarse)))
  return { first, count: new Uint8Array(coarse).fill(1) }
}

/** The one or two fine pixels whose centres are inside. */
function coveredSpans(fine: number, coarse: number): Spans {
  const border = (i: number): number => Math.floor((i * fine) / coarse + 0.5)
  const first = Uint32Array.from({ length: coarse }, (_, i) => Math.min(border(i), fine - 1))
  const count = Uint8Array.from({ length: coarse }, (_, i) => Math.max(1, Math.min(border(i + 1), fine) - border(i)))
  return { first, count }
}

/** Samples of either type by index: both sides of a copy always have the same type. */
function asIndexed(samples: ExactSampleArray): { [index: number]: Sample } {
  return samples
}
