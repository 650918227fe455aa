/**
 * Resumable uploads. The received bytes stay in the staging folder; their length is the offset of the upload, and they
 * survive a restart.
 */
import { createHash, type Hash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { LRUCache } from 'lru-cache'
import { explainDisk, isMissing } from './file-layout.ts'
import { StorageError } from '#ports/storage.ts'

const REHASH_CHUNK_BYTES = 1024 * 1024
/** Running hashes kept in memory; an upload that lost its hash is read from disk when it completes. */
const MAX_RUNNING_HASHES = 1_000

export interface PartialUploads {
  /** Number of bytes received. */
  offset(id: string): Promise<number>
  /** Number of bytes received by the most advanced upload whose ID is `prefix`, a dash and a length. */
  furthest(prefix: string): Promise<number>
  /** Appends at `offset`, the current end. If the chunks fail, keeps what was received and rethrows. */
  append(id: string, offset: number, chunks: AsyncIterable<Uint8Array>): Promise<number>
  /** The complete upload as a file on disk, ready to be moved into place. */
  finished(id: string): Promise<{ file: string; size: number; sha256: string }>
}

export function createPartialUploads(stagingFolder: string): PartialUploads {
  const running = new LRUCache<string, { hash: Hash; offset: number }>({ max: MAX_RUNNING_HASHES })
  const fileOf = (id: string) => path.join(stagingFolder, `upload-${id}`)

  const sizeOf = async (id: string): Promise<number> =>
    await stat(fileOf(id)).then(
      (stats) => stats.size,
      (error: unknown) => {
        if (isMissing(error)) return 0
        throw error
      },
    )

  return {
    offset: sizeOf,
    async furthest(prefix) {
      const names = (await readdir(stagingFolder)).filter((name) => name.startsWith(`upload-${prefix}-`))
      return Math.max(0, ...(await Promise.all(names.map((name) => sizeOf(name.slice('upload-'.length))))))
    },
    async append(id, offset, chunks) {
      const handle = await open(fileOf(id), constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
      try {
        if ((await handle.stat()).size !== offset) throw new StorageError('changed', 'Another process is writing the same upload')
        let position = offset
        const known = running.get(id)
        const hash = position === 0 ? createHash('sha256') : known?.offset === position ? known.hash : null
        try {
          for await (const chunk of chunks) {
            await writeFully(handle, chunk, position)
            position += chunk.length
            hash?.update(chunk)
          }
        } finally {
          if (hash) running.set(id, { hash, offset: position })
          await handle.datasync()
        }
        return position
      } catch (error) {
        throw explainDisk(error)
      } finally {
        await handle.close()
      }
    },
    async finished(id) {
      const file = fileOf(id)
      const size = await sizeOf(id)
      const known = running.get(id)
      const hash = known?.offset === size ? known.hash : await hashOf(file)
      running.delete(id)
      return { file, size, sha256: hash.digest('hex') }
    },
  }
}

/** A full disk or a signal can shorten a write; write the rest, or throw. */
export async function writeFully(
  handle: { write(bytes: Uint8Array, start: number, length: number, position: number): Promise<{ bytesWritten: number }> },
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  let done = 0
  while (done < bytes.length) done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten
}

export async function hashOf(file: string): Promise<Hash> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: REHASH_CHUNK_BYTES }) as AsyncIterable<Buffer>) hash.update(chunk)
  return hash
}
