import { randomUUID } from 'node:crypto'
import { open, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
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

  async append(bytes: Uint8Array): Promise<void> {
    this.#chunks.push(bytes)
    this.#chunkBytes += bytes.byteLength
    if (this.#chunkBytes > this.#memoryBytes) await this.#flush()
  }

  /** All bytes in their original order, in chunks. */
  async *read(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < this.#fileBytes && this.#file;) {
      const piece = Buffer.allocUnsafe(Math.min(Spill.COPY_BYTES, this.#fileBytes - at))
      const { bytesRead } = await this.#file.read(piece, 0, piece.byteLength, at)
      if (bytesRead === 0) throw new RasterError('source_unavailable', 'The temporary file of the raster writer is truncated')
      yield piece.subarray(0, bytesRead)
      at += bytesRead
    }
    yield* this.#chunks
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
    this.#chunks = []
  }

  async #flush(): Promise<void> {
    try {
      this.#file ??= await this.#create()
      const all = Buffer.concat(this.#chunks)
      for (let done = 0; done < all.byteLength;) {
        done += (await this.#file.write(all, done, all.byteLength - done, this.#fileBytes + done)).bytesWritten
      }
      this.#fileBytes += all.byteLength
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
