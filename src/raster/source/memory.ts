import { createHash } from 'node:crypto'
import { throwIfAborted } from '#raster/errors.ts'
import { assertRange } from '#raster/source/range.ts'
import type { Source } from '#raster/types.ts'

/** A source over bytes that are already in memory. Its key is a digest of the content. */
export function memorySource(bytes: Uint8Array): Source {
  const digest = createHash('sha256').update(bytes).digest('hex')
  return {
    key: `memory:${digest}`,
    size: bytes.byteLength,
    etag: `"${digest}"`,
    async fetch(offset, length, signal) {
      throwIfAborted(signal)
      assertRange(offset, length, bytes.byteLength)
      return bytes.subarray(offset, offset + length)
    },
  }
}
