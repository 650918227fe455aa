import { close, fstatSync, openSync, read, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { takeBytes } from '#raster/buffers.ts'
import { RasterError, throwIfAborted } from '#raster/errors.ts'
import { assertRange } from '#raster/source/range.ts'
import type { Source } from '#raster/types.ts'

const readAt = promisify(read)
const closeFile = promisify(close)

/** Headers are a dozen small neighbouring reads: one read fetches them all. */
const HEAD_BYTES = 16 * 1024

/**
 * Opens a local file. Size and modification time are part of the key, so that a file replaced under
 * the same name never gets the cached blocks of its predecessor.
 *
 * Opening is synchronous: files are opened in separate processes, and handing three calls of some microseconds to other threads
 * took longer than all that follows. Blocks are read while others are decoded.
 */
export async function openFileSource(path: string): Promise<Source> {
  const file = openRegularFile(path)
  const stat = fstatSync(file)
  if (!stat.isFile()) {
    await closeFile(file)
    throw new RasterError('source_unavailable', 'The raster is not a regular file')
  }
  const version = `${stat.size.toString(16)}-${Math.round(stat.mtimeMs * 1000).toString(16)}-${stat.ino.toString(16)}`
  let head: Uint8Array | null = null
  const fromHead = (offset: number, length: number): Uint8Array => {
    head ??= readHead(file, Math.min(HEAD_BYTES, stat.size))
    return head.slice(offset, offset + length)
  }
  return {
    key: `file:${resolve(path)}:${version}`,
    size: stat.size,
    etag: `"${version}"`,
    async fetch(offset, length, signal) {
      throwIfAborted(signal)
      assertRange(offset, length, stat.size)
      if (offset + length <= HEAD_BYTES) return fromHead(offset, length)
      return await readFully(file, offset, new Uint8Array(length))
    },
    async borrow(offset, length, signal) {
      throwIfAborted(signal)
      assertRange(offset, length, stat.size)
      return await readFully(file, offset, takeBytes(length))
    },
    close: () => closeFile(file),
  }
}

function openRegularFile(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    throw new RasterError('source_unavailable', 'Cannot open the raster file', { cause })
  }
}

function readHead(file: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const count = readOnce(() => readSync(file, bytes, done, length - done, done))
    if (count === 0) throw becameShorter()
    done += count
  }
  return bytes
}

function readOnce(work: () => number): number {
  try {
    return work()
  } catch (cause) {
    throw cannotBeRead(cause)
  }
}

async function readFully(file: number, offset: number, bytes: Uint8Array): Promise<Uint8Array> {
  const { length } = bytes
  let done = 0
  while (done < length) {
    const { bytesRead } = await readAt(file, bytes, done, length - done, offset + done).catch((cause: unknown) => {
      throw cannotBeRead(cause)
    })
    if (bytesRead === 0) throw becameShorter()
    done += bytesRead
  }
  return bytes
}

const cannotBeRead = (cause: unknown): RasterError => new RasterError('source_unavailable', 'Cannot read the raster file', { cause })

const becameShorter = (): RasterError => new RasterError('source_changed', 'The raster file was truncated while it was read')
