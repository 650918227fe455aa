import { RasterError } from '#raster/errors.ts'
import { assertTagSize, decodeNumbers, type Fields } from '#raster/tiff/fields.ts'
import type { Entry } from '#raster/tiff/ifd.ts'
import { FIELD_BYTES } from '#raster/tiff/tags.ts'
import type { Source } from '#raster/types.ts'

/** Location of a block's stored bytes. A length of 0 is a sparse block. */
export interface BlockPlace {
  readonly offset: number
  readonly length: number
}

/**
 * The table of block offsets or lengths, read page by page: a large COG has megabytes of them, of
 * which one tile needs a few bytes.
 */
export class BlockTable {
  readonly count: number
  readonly #source: Source
  readonly #entry: Entry
  readonly #littleEndian: boolean
  readonly #pages = new Map<number, Promise<number[]>>()

  static readonly PAGE_VALUES = 8192
  /** Pages held at once, 4 MB; the table of a whole planet would be hundreds. */
  static readonly MAX_PAGES = 64

  constructor(source: Source, entry: Entry, littleEndian: boolean) {
    assertTagSize(entry)
    this.count = entry.count
    this.#source = source
    this.#entry = entry
    this.#littleEndian = littleEndian
  }

  async get(index: number): Promise<number> {
    const pageIndex = Math.floor(index / BlockTable.PAGE_VALUES)
    let page = this.#pages.get(pageIndex)
    if (!page) {
      // Shared by all callers that wait for it, so no single signal may cancel it; it is 64 KB at most.
      page = this.#readPage(pageIndex)
      this.#pages.set(pageIndex, page)
      // A failed read must not affect later ones.
      page.catch(() => this.#pages.delete(pageIndex))
      this.#dropOldest()
    }
    const value = (await page)[index % BlockTable.PAGE_VALUES]
    if (value === undefined || value < 0 || !Number.isSafeInteger(value)) {
      throw new RasterError('corrupt', 'The TIFF has an invalid block offset or length')
    }
    return value
  }

  #dropOldest(): void {
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= BlockTable.MAX_PAGES) return
      this.#pages.delete(oldest)
    }
  }

  async #readPage(pageIndex: number): Promise<number[]> {
    const { type, inline, offset, count } = this.#entry
    if (inline) return decodeNumbers(inline, type, this.#littleEndian)
    const size = FIELD_BYTES[type] ?? 1
    const first = pageIndex * BlockTable.PAGE_VALUES
    const values = Math.min(BlockTable.PAGE_VALUES, count - first)
    const bytes = await this.#source.fetch(offset + first * size, values * size)
    return decodeNumbers(bytes, type, this.#littleEndian)
  }
}

export function blockTable(source: Source, fields: Fields, tag: number, littleEndian: boolean): BlockTable | null {
  const entry = fields.entry(tag)
  return entry ? new BlockTable(source, entry, littleEndian) : null
}
