import { open, rm } from 'node:fs/promises'
import path from 'node:path'
import type { MethodTask } from './method.ts'

/**
 * Rows of a second raster that are computed with those of a first one, kept on disk until the first is written: two files
 * in one pass, without holding either in memory.
 */
export class Strips {
  readonly #path: string
  readonly #rowBytes: number
  #isOpened = false

  constructor({ temporaryDirectory }: MethodTask<unknown>, name: string, rowBytes: number) {
    this.#path = path.join(temporaryDirectory, `${name}.raw`)
    this.#rowBytes = rowBytes
  }

  async write(y: number, rows: Uint8Array | Uint16Array): Promise<void> {
    const handle = await open(this.#path, this.#isOpened ? 'r+' : 'w')
    this.#isOpened = true
    try {
      const bytes = new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength)
      let done = 0
      while (done < bytes.byteLength)
        done += (await handle.write(bytes, done, bytes.byteLength - done, y * this.#rowBytes + done)).bytesWritten
    } finally {
      await handle.close()
    }
  }

  async read(y: number, count: number): Promise<ArrayBuffer> {
    const handle = await open(this.#path, 'r')
    try {
      const bytes = new Uint8Array(count * this.#rowBytes)
      let done = 0
      while (done < bytes.byteLength) {
        const { bytesRead } = await handle.read(bytes, done, bytes.byteLength - done, y * this.#rowBytes + done)
        if (bytesRead === 0) throw new Error('the temporary file is truncated')
        done += bytesRead
      }
      return bytes.buffer
    } finally {
      await handle.close()
    }
  }

  remove = (): Promise<void> => rm(this.#path, { force: true })
}
