import { LRUCache } from 'lru-cache'
import type { Source } from '#raster/types.ts'

interface PageOptions {
  readonly pageBytes?: number
  readonly maxPages?: number
  /** Larger reads bypass the pages: they are pixels, and seldom read twice. */
  readonly smallBytes?: number
}

const DEFAULT_PAGE_BYTES = 32 * 1024
const DEFAULT_MAX_PAGES = 32
const DEFAULT_SMALL_BYTES = 2 * 1024

/**
 * Serves small reads from whole pages. Reading the directories of a TIFF is a chain of reads of a few
 * bytes, which must not be one round trip each.
 */
export function withPages(source: Source, options: PageOptions = {}): Source {
  const pageBytes = options.pageBytes ?? DEFAULT_PAGE_BYTES
  const maxPages = options.maxPages ?? DEFAULT_MAX_PAGES
  const smallBytes = options.smallBytes ?? DEFAULT_SMALL_BYTES
  const pages = new LRUCache<number, Promise<Uint8Array>>({ max: maxPages })

  const load = (index: number): Promise<Uint8Array> => {
    const known = pages.get(index)
    if (known) return known
    const offset = index * pageBytes
    // Shared by all callers that wait for it: no single caller's signal may cancel it.
    const page = source.fetch(offset, Math.min(pageBytes, source.size - offset))
    pages.set(index, page)
    page.catch(() => pages.delete(index))
    return page
  }

  return {
    ...source,
    async fetch(offset, length, signal) {
      const index = Math.floor(offset / pageBytes)
      const isInOnePage = offset >= 0 && length > 0 && Math.floor((offset + length - 1) / pageBytes) === index
      if (length > smallBytes || !isInOnePage || offset + length > source.size) return source.fetch(offset, length, signal)
      const page = await load(index)
      return page.subarray(offset - index * pageBytes, offset - index * pageBytes + length)
    },
  }
}
