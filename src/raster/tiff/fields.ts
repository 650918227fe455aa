import { RasterError } from '#raster/errors.ts'
import { LIMITS } from '#raster/limits.ts'
import { safeUint64, viewOf, type Entry, type Ifd } from '#raster/tiff/ifd.ts'
import { FIELD_BYTES } from '#raster/tiff/tags.ts'
import type { Source } from '#raster/types.ts'

/** Counts the tag bytes held for one file. */
export interface TagBudget {
  bytes: number
}

/** Typed access to the values of one directory, within the limits on tag sizes. */
export class Fields {
  readonly #source: Source
  readonly #ifd: Ifd
  readonly #littleEndian: boolean
  readonly #budget: TagBudget
  readonly #signal: AbortSignal | undefined

  constructor(source: Source, ifd: Ifd, container: { littleEndian: boolean; budget: TagBudget; signal: AbortSignal | undefined }) {
    this.#source = source
    this.#ifd = ifd
    this.#littleEndian = container.littleEndian
    this.#budget = container.budget
    this.#signal = container.signal
  }

  entry(tag: number): Entry | null {
    return this.#ifd.entries.get(tag) ?? null
  }

  /** The stored bytes of a tag, or null if the directory lacks it. */
  async bytes(tag: number): Promise<Uint8Array | null> {
    const entry = this.entry(tag)
    if (!entry) return null
    if (entry.inline) return entry.inline
    assertTagSize(entry)
    this.#budget.bytes += entry.byteLength
    if (this.#budget.bytes > LIMITS.tagBytesTotal) throw new RasterError('limit_exceeded', 'The tags of the TIFF are too large in total')
    return this.#source.fetch(entry.offset, entry.byteLength, this.#signal)
  }

  /** All values of a numeric tag. */
  async numbers(tag: number): Promise<number[] | null> {
    const entry = this.entry(tag)
    const bytes = await this.bytes(tag)
    if (!entry || !bytes) return null
    if (entry.count > LIMITS.tagValueCount) throw new RasterError('limit_exceeded', `Tag ${tag} of the TIFF has ${entry.count} values`)
    return decodeNumbers(bytes, entry.type, this.#littleEndian)
  }

  /** The first value of a numeric tag, or the fallback. */
  async number(tag: number, fallback: number): Promise<number> {
    return (await this.numbers(tag))?.[0] ?? fallback
  }

  /** A string, up to its first NUL. */
  async text(tag: number): Promise<string | null> {
    const bytes = await this.bytes(tag)
    if (!bytes) return null
    const end = bytes.indexOf(0)
    return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end))
  }
}

export function assertTagSize(entry: Entry): void {
  if (entry.byteLength > LIMITS.tagBytes) {
    throw new RasterError('limit_exceeded', `Tag ${entry.tag} of the TIFF holds ${entry.byteLength} bytes`)
  }
}

export function decodeNumbers(bytes: Uint8Array, type: number, littleEndian: boolean): number[] {
  const view = viewOf(bytes)
  const size = FIELD_BYTES[type] ?? 1
  const read = NUMBER_READERS[type]
  if (!read) throw new RasterError('corrupt', `A numeric tag of the TIFF has the invalid field type ${type}`)
  return Array.from({ length: Math.floor(bytes.byteLength / size) }, (_, i) => read(view, i * size, littleEndian))
}

type NumberReader = (view: DataView, at: number, littleEndian: boolean) => number

const NUMBER_READERS: Readonly<Record<number, NumberReader>> = {
  1: (view, at) => view.getUint8(at),
  3: (view, at, le) => view.getUint16(at, le),
  4: (view, at, le) => view.getUint32(at, le),
  5: (view, at, le) => view.getUint32(at, le) / view.getUint32(at + 4, le),
  6: (view, at) => view.getInt8(at),
  7: (view, at) => view.getUint8(at),
  8: (view, at, le) => view.getInt16(at, le),
  9: (view, at, le) => view.getInt32(at, le),
  10: (view, at, le) => view.getInt32(at, le) / view.getInt32(at + 4, le),
  11: (view, at, le) => view.getFloat32(at, le),
  12: (view, at, le) => view.getFloat64(at, le),
  13: (view, at, le) => view.getUint32(at, le),
  16: safeUint64,
  17: (view, at, le) => Number(view.getBigInt64(at, le)),
  18: safeUint64,
}
