import { open } from 'node:fs/promises'
import { RasterError } from '#raster/errors.ts'

/** Where a file is written, sequentially from its first byte to its last: a file, an upload, memory. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>
}

/** Collects the file in memory. */
export function memorySink(): ByteSink & { bytes(): Uint8Array } {
  const chunks: Uint8Array[] = []
  return {
    async write(bytes) {
      chunks.push(new Uint8Array(bytes))
    },
    bytes: () => new Uint8Array(Buffer.concat(chunks)),
  }
}

/** Writes a local file. `close` must always be called. */
export async function openFileSink(path: string): Promise<ByteSink & { close(): Promise<void> }> {
  const handle = await open(path, 'w').catch((cause: unknown) => {
    throw new RasterError('source_unavailable', 'Cannot create the raster file', { cause })
  })
  return {
    async write(bytes) {
      let done = 0
      while (done < bytes.byteLength) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done).catch((cause: unknown) => {
          throw new RasterError('source_unavailable', 'Cannot write the raster file', { cause })
        })
        done += bytesWritten
      }
    },
    close: () => handle.close(),
  }
}
