import type { ExactRaster } from '#raster/tiff/raster.ts'
import { EXACT_ARRAY } from '#raster/tiff/sample.ts'
import type { Block, ExactSampleArray } from '#raster/types.ts'

/** Some rows of a raster, interleaved. */
interface Rows {
  readonly y: number
  readonly height: number
  readonly samples: ExactSampleArray
  readonly mask: Uint8Array | null
}

/** The selected part of a raster: all rows of some columns, and some bands. */
interface RowSource {
  readonly raster: ExactRaster
  readonly x: number
  readonly width: number
  /** Zero-based. */
  readonly bands: readonly number[]
  /** The row after the last requested one. */
  readonly endY: number
  /** The columns, counted from `x`, that are needed in some rows; the others are then 0. Null if none is. */
  readonly columns?: ((y: number, endY: number) => readonly [number, number] | null) | null
}

/**
 * Rows of a raster whose blocks differ from the ones to write: blocks are decoded once,
 * a row of blocks at a time, and rows that were decoded too early are kept here.
 */
export class RowBuffer {
  readonly #source: RowSource
  #held: Rows | null = null

  constructor(source: RowSource) {
    this.#source = source
  }

  async read(y: number, rows: number, signal: AbortSignal | undefined): Promise<Rows> {
    const held = this.#held
    const end = y + rows
    const heldEnd = held ? held.y + held.height : y
    if (held && end <= heldEnd) return this.#cut(held, y, end)
    const fresh = await this.#readAhead(Math.max(y, heldEnd), end, signal)
    this.#held = fresh
    if (!held || heldEnd <= y) return this.#cut(fresh, y, end)
    return this.#join(this.#cut(held, y, heldEnd), this.#cut(fresh, heldEnd, end))
  }

  /** From a row to the end of the row of blocks that contains the last requested row. */
  async #readAhead(y: number, end: number, signal: AbortSignal | undefined): Promise<Rows> {
    const { raster, x, width, bands, endY } = this.#source
    const blockHeight = raster.info.levels[0]?.blockHeight ?? 1
    const height = Math.min(endY, Math.ceil(end / blockHeight) * blockHeight) - y
    const [from, to] = this.#source.columns ? (this.#source.columns(y, y + height) ?? [0, 0]) : [0, width]
    if (from === to) return { y, height, samples: new EXACT_ARRAY[raster.info.dataType](width * height * bands.length), mask: null }
    const { data, mask } = await raster.readExactWindow(
      0,
      { x: x + from, y, width: to - from, height },
      { bands, interleaved: true, signal },
    )
    const samples = data[0] as ExactSampleArray
    if (to - from === width) return { y, height, samples, mask }
    const wide = new EXACT_ARRAY[raster.info.dataType](width * height * bands.length)
    const wideMask = mask && new Uint8Array(width * height).fill(255)
    for (let row = 0; row < height; row++) {
      const part = [row * (to - from), (row + 1) * (to - from)] as const
      ;(wide as Uint8Array).set(
        samples.subarray(part[0] * bands.length, part[1] * bands.length) as Uint8Array,
        (row * width + from) * bands.length,
      )
      if (mask) wideMask?.set(mask.subarray(...part), row * width + from)
    }
    return { y, height, samples: wide, mask: wideMask }
  }

  /** A view, not a copy. */
  #cut({ y, samples, mask }: Rows, from: number, to: number): Rows {
    const { width, bands } = this.#source
    return {
      y: from,
      height: to - from,
      samples: samples.subarray((from - y) * width * bands.length, (to - y) * width * bands.length),
      mask: mask?.subarray((from - y) * width, (to - y) * width) ?? null,
    }
  }

  #join(a: Rows, b: Rows): Rows {
    const { raster, width } = this.#source
    const samples = new EXACT_ARRAY[raster.info.dataType](a.samples.length + b.samples.length)
    ;(samples as Uint8Array).set(a.samples as Uint8Array)
    ;(samples as Uint8Array).set(b.samples as Uint8Array, a.samples.length)
    const opaque = ({ height }: Rows): Uint8Array => new Uint8Array(width * height).fill(255)
    const mask = a.mask || b.mask ? Buffer.concat([a.mask ?? opaque(a), b.mask ?? opaque(b)]) : null
    return { y: a.y, height: a.height + b.height, samples, mask }
  }
}

/** Interleaved rows as the input of the COG writer. */
export function interleavedBlock(
  { height, samples, mask }: Pick<Rows, 'height' | 'samples' | 'mask'>,
  width: number,
  bandCount: number,
): Block<ExactSampleArray> {
  const bands = Array.from({ length: bandCount }, (_, band) => band)
  return {
    width,
    height,
    bands,
    data: bands.map(() => samples),
    starts: bands,
    stride: bandCount,
    mask,
    byteLength: samples.byteLength + (mask?.byteLength ?? 0),
  }
}
