/**
 * Uploads in parts, in any order. An upload is a folder in the staging folder: `bytes`, into which each part is written at its place,
 * and one small file per part that has arrived, named by its number, with its MD5. Nothing is joined or copied at the end.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, rm, unlink } from 'node:fs/promises'
import path from 'node:path'
import { explainDisk, isMissing, newVersion, syncFolder, writeWhole } from './file-layout.ts'
import { hashOf, writeFully } from './file-uploads.ts'
import { objectMissing, StorageError, type MultipartUpload, type ReceivedPart } from '#ports/storage.ts'
import type { SignedPart } from './signature.ts'

const BYTES_FILE = 'bytes'
const PART_FILE = /^[1-9][0-9]{0,4}$/
/** Large parts are synced while they arrive. */
const SYNC_EVERY_BYTES = 32 * 2 ** 20

export class PartsFolder {
  readonly #staging: string

  constructor(staging: string) {
    this.#staging = staging
  }

  async create(): Promise<string> {
    const id = newVersion()
    await mkdir(this.#folder(id), { mode: 0o700 })
    await syncFolder(this.#staging)
    return id
  }

  /** Null if the upload has ended. */
  async list({ id, partBytes, totalBytes }: Pick<MultipartUpload, 'id' | 'partBytes' | 'totalBytes'>): Promise<ReceivedPart[] | null> {
    const names = await readdir(this.#folder(id)).catch(orNull)
    if (!names) return null
    const count = Math.ceil(totalBytes / partBytes)
    const numbers = names.filter((name) => PART_FILE.test(name) && Number(name) <= count).map(Number)
    const parts: ReceivedPart[] = []
    for (const number of numbers.toSorted((a, b) => a - b)) {
      const md5 = await readFile(this.#partFile(id, number), 'utf8').catch(orNull)
      if (md5 !== null) parts.push({ number, md5 })
    }
    return parts
  }

  /** Returns the MD5. A part counts only once it is whole, on disk and, if the sender gave its MD5, unchanged. */
  async write({ id, number, offset }: SignedPart, chunks: AsyncIterable<Uint8Array>, md5: string | null): Promise<string> {
    const file = path.join(this.#folder(id), BYTES_FILE)
    const handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600).catch((error: unknown) => {
      throw isMissing(error) ? objectMissing() : error
    })
    const hash = createHash('md5')
    try {
      await unlink(this.#partFile(id, number)).catch(orNull)
      let [position, synced] = [offset, offset]
      for await (const chunk of chunks) {
        await writeFully(handle, chunk, position)
        hash.update(chunk)
        position += chunk.length
        if (position - synced < SYNC_EVERY_BYTES) continue
        await handle.datasync()
        synced = position
      }
      await handle.datasync()
    } catch (error) {
      throw explainDisk(error)
    } finally {
      await handle.close()
    }
    const received = hash.digest('hex')
    if (md5 !== null && md5 !== received) throw new StorageError('changed', 'The part differs from its Content-MD5')
    await writeWhole(path.join(this.#folder(id), `new-${newVersion()}`), this.#partFile(id, number), received)
    return received
  }

  /** The complete file, ready to be linked into place; null if the upload has ended. */
  async finished(upload: Pick<MultipartUpload, 'id' | 'partBytes' | 'totalBytes'>): Promise<{ file: string; sha256: string } | null> {
    const parts = await this.list(upload)
    if (!parts) return null
    const count = Math.ceil(upload.totalBytes / upload.partBytes)
    if (parts.length < count) throw new StorageError('not-found', `Only ${parts.length} of ${count} parts are uploaded`)
    const file = path.join(this.#folder(upload.id), BYTES_FILE)
    const stats = await lstat(file)
    if (stats.size !== upload.totalBytes) throw new StorageError('damaged', 'An upload has another size than its parts')
    return { file, sha256: (await hashOf(file)).digest('hex') }
  }

  async remove(id: string): Promise<void> {
    await rm(this.#folder(id), { recursive: true, force: true })
  }

  #folder(id: string): string {
    if (!/^[0-9a-f]{16}$/.test(id)) throw new StorageError('invalid-name', 'The ID of an upload in parts has another form')
    return path.join(this.#staging, `parts-${id}`)
  }

  #partFile(id: string, number: number): string {
    return path.join(this.#folder(id), String(number))
  }
}

const orNull = (error: unknown): null => {
  if (isMissing(error)) return null
  throw error
}
