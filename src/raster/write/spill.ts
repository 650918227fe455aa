import { randomUUID } from 'node:crypto'
import { open, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { giveBack } from '#raster/buffers.ts'
import { RasterError } from '#raster/errors.ts'

/**
 * The encoded blocks of one level until the file is laid out: overviews come first in a COG but are
 * finished last. Small levels stay in memory; the rest goes to a temporary file, which is unlinked
 * as soon as it is open, so that a crash leaves nothing behind.
 */
export class Spill {
  readonly #directory: string
  readonly #memoryBytes: number
  #chunks: Uint8Array[] = []
  #chunkBytes = 0
  #fileBytes = 0
  #file: FileHandle | null = null

  static readonly COPY_BYTES = 4 * 1024 * 1024

  constructor(directory: string, memoryBytes: number) {
    this.#directory = directory
    this.#memoryBytes = memoryBytes
  }

  get byteLength(): number {
    return this.#fileBytes + this.#chunkBytes
  }

  /** Takes the bytes, whose buffer is reused afterwards if it was one of `takeBytes`. */
  async append(bytes: Uint8Array): Promise<void> {
    this.#chunks.push(bytes)
    this.#chunkBytes += bytes.byteLength
    if (this.#chunkBytes > this.#memoryBytes) await this.#flush()
  }

  /** All bytes in their original order, in chunks: each is valid until the next one. */
  async *read(): AsyncGenerator<Uint8Array> {
    const piece = Buffer.allocUnsafe(Math.min(Spill.COPY_BYTES, this.#fileBytes))
    for (let at = 0; at < this.#fileBytes && this.#file;) {
      const { bytesRead } = await this.#file.read(piece, 0, Math.min(piece.byteLength, this.#fileBytes - at), at)
      if (bytesRead === 0) throw new RasterError('source_unavailable', 'The temporary file of the raster writer is truncated')
      yield piece.subarray(0, bytesRead)
      at += bytesRead
    }
    yield* this.#chunks
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
    for (const chunk of this.#chunks) giveBack(chunk)
    this.#chunks = []
  }

  async #flush(): Promise<void> {
    try {
      this.#file ??= await this.#create()
      let left = this.#chunks
      while (left.length > 0) {
        const { bytesWritten } = await this.#file.writev(left, this.#fileBytes)
        this.#fileBytes += bytesWritten
        left = after(left, bytesWritten)
      }
      for (const chunk of this.#chunks) giveBack(chunk)
    } catch (cause) {
      throw new RasterError('source_unavailable', 'Cannot write the temporary file of the raster writer', { cause })
    }
    this.#chunks = []
    this.#chunkBytes = 0
  }

  async #create(): Promise<FileHandle> {
    const path = join(this.#directory, `cog-${randomUUID()}.tmp`)
    const handle = await open(path, 'wx+', 0o600)
    await unlink(path).catch(() => undefined)
    return handle
  }
}

/** What is left of chunks after some of their bytes. */
function after(chunks: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let done = bytes
  return chunks.flatMap((chunk) => {
    const skipped = Math.min(done, chunk.byteLength)
    done -= skipped
    return skipped === chunk.byteLength ? [] : [chunk.subarray(skipped)]
  })
}
