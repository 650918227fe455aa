import { open, type FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { takeBytes } from '#raster/buffers.ts'
import { RasterError, throwIfAborted } from '#raster/errors.ts'
import { assertRange } from '#raster/source/range.ts'
import type { Source } from '#raster/types.ts'

const HEAD_BYTES = 16 * 1024

/**
 * Opens a local file. Size and modification time are part of the key, so that a file replaced under
 * the same name never meets the cached blocks of its predecessor.
 */
export async function openFileSource(path: string): Promise<Source> {
  const handle = await openRegularFile(path)
  const stat = await handle.stat()
  if (!stat.isFile()) {
    await handle.close()
    throw new RasterError('source_unavailable', 'The raster is not a regular file')
  }
  const version = `${stat.size.toString(16)}-${Math.round(stat.mtimeMs * 1000).toString(16)}-${stat.ino.toString(16)}`
  // Headers are a dozen small reads that lie side by side: one read brings them all.
  let head: Promise<Uint8Array> | null = null
  const fromHead = async (offset: number, length: number): Promise<Uint8Array> => {
    head ??= readFully(handle, 0, new Uint8Array(Math.min(HEAD_BYTES, stat.size)))
    return (await head).slice(offset, offset + length)
  }
  return {
    key: `file:${resolve(path)}:${version}`,
    size: stat.size,
    etag: `"${version}"`,
    async fetch(offset, length, signal) {
      throwIfAborted(signal)
      assertRange(offset, length, stat.size)
      if (offset + length <= HEAD_BYTES) return fromHead(offset, length)
      return readFully(handle, offset, new Uint8Array(length))
    },
    async borrow(offset, length, signal) {
      throwIfAborted(signal)
      assertRange(offset, length, stat.size)
      return readFully(handle, offset, takeBytes(length))
    },
    close: () => handle.close(),
  }
}

async function openRegularFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (cause) {
    throw new RasterError('source_unavailable', 'The raster file cannot be opened', { cause })
  }
}

async function readFully(handle: FileHandle, offset: number, bytes: Uint8Array): Promise<Uint8Array> {
  const { length } = bytes
  let done = 0
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, offset + done).catch((cause: unknown) => {
      throw new RasterError('source_unavailable', 'The raster file cannot be read', { cause })
    })
    if (bytesRead === 0) throw new RasterError('source_changed', 'The raster file became shorter while it was read')
    done += bytesRead
  }
  return bytes
}
