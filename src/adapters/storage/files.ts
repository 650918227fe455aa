/** The embedded object store: files under DATA_DIR/objects, written completely and synced, or not at all. */
import { constants } from 'node:fs'
import { access, chmod, link, mkdir, open, realpath, rename, rm, rmdir, unlink, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import type { Clock } from '#core/clock.ts'
import { displayName } from '#core/file-names.ts'
import { metered } from './body.ts'
import {
  checkRealFolder,
  explainDisk,
  hasCode,
  isMissing,
  isRegular,
  makeFolders,
  newVersion,
  openRegular,
  placeOf,
  readPointer,
  STAGING_FOLDER,
  syncFolder,
  writeWhole,
  type Place,
  type Pointer,
} from './file-layout.ts'
import { keysOf, sweepFiles } from './file-list.ts'
import { PartsFolder } from './file-parts.ts'
import { createPartialUploads, writeFully, type PartialUploads } from './file-uploads.ts'
import { checkBucket, checkContentType, checkPrefix, checkRef } from './keys.ts'
import {
  checkedRange,
  checkedSeconds,
  LIST_PAGE_SIZE,
  objectMissing,
  partRange,
  STALE_AFTER_MS,
  StorageError,
  type ListedObject,
  type ListOptions,
  type MultipartUploads,
  type ObjectBody,
  type ObjectInfo,
  type ObjectRef,
  type ObjectSource,
  type Page,
  type PutOptions,
  type PutResult,
  type ReadOptions,
  type SignGet,
  type SignPut,
  type Storage,
} from '#ports/storage.ts'
import { SECRET_BYTES, signRequest, type SignedRequest, type StoreSecrets } from './signature.ts'

/** How often a step restarts because another writer removed or replaced the same object. */
const MAX_ATTEMPTS = 5
const READ_CHUNK_BYTES = 256 * 1024
/** Large files are synced while they arrive; syncing gigabytes at the end would look like a stall. */
const SYNC_EVERY_BYTES = 32 * 1024 * 1024

interface FileStoreOptions {
  /** The folder of all buckets; created if missing. */
  root: string
  /** Public URL of the listener; read at each signature, because the port may be known only after it listens. */
  publicUrl: () => string
  secrets: StoreSecrets
  clock: Clock
  /** Whether its listener counts egress. */
  countsEgress?: boolean
}

export interface OpenObject {
  readonly info: ObjectInfo
  readonly path: string
  readonly handle: FileHandle
}

export async function openFileStore({ root, publicUrl, secrets, clock, countsEgress = false }: FileStoreOptions): Promise<FileStore> {
  const { length } = secrets.current()
  if (length !== SECRET_BYTES) throw new RangeError(`The store's secret must have ${SECRET_BYTES} bytes, not ${length}`)
  await mkdir(path.join(root, STAGING_FOLDER), { recursive: true, mode: 0o700 })
  await chmod(root, 0o700)
  return new FileStore(await realpath(root), { publicUrl, secrets, clock, countsEgress })
}

/** The storage port, and what the listener needs beyond it. */
export class FileStore implements Storage {
  readonly kind = 'files'
  readonly countsEgress: boolean
  readonly accessLogs = null
  readonly multipart: MultipartUploads
  /** Resumable uploads in progress: at one URL, and in parts. */
  readonly uploads: PartialUploads
  readonly parts: PartsFolder
  readonly #root: string
  readonly #staging: string
  readonly #publicUrl: () => string
  readonly #secrets: StoreSecrets
  readonly #clock: Clock
  readonly #exclusive = keyedLock()

  constructor(root: string, { publicUrl, secrets, clock, countsEgress }: Required<Omit<FileStoreOptions, 'root'>>) {
    this.countsEgress = countsEgress
    this.#root = root
    this.#staging = path.join(root, STAGING_FOLDER)
    this.#publicUrl = publicUrl
    this.#secrets = secrets
    this.#clock = clock
    this.uploads = createPartialUploads(this.#staging)
    this.parts = new PartsFolder(this.#staging)
    this.multipart = this.#multipart()
  }

  owns(address: URL): boolean {
    return address.origin === new URL(this.#publicUrl()).origin
  }

  async createBucket(bucket: string): Promise<void> {
    checkBucket(bucket)
    await mkdir(path.join(this.#root, bucket), { mode: 0o700 }).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error
    })
    await syncFolder(this.#root)
  }

  /** The bucket disappears at once; the sweep removes what a crash leaves. */
  async deleteBucket(bucket: string): Promise<void> {
    checkBucket(bucket)
    const gone = path.join(this.#staging, `bucket-${newVersion()}`)
    const wasThere = await rename(path.join(this.#root, bucket), gone).then(
      () => true,
      (error: unknown) => {
        if (isMissing(error)) return false
        throw error
      },
    )
    if (!wasThere) return
    await syncFolder(this.#root)
    await rm(gone, { recursive: true, force: true })
  }

  async put(at: ObjectRef, body: ObjectBody, options: PutOptions): Promise<PutResult> {
    checkRef(at)
    checkContentType(options.contentType)
    await checkRealFolder(path.join(this.#root, at.bucket))
    const file = this.#stagingFile()
    try {
      const meter = metered(body, options)
      await writeStaging(file, meter.chunks, options.onProgress)
      options.signal?.throwIfAborted()
      const written = { size: meter.size, sha256: meter.hash.digest('hex'), contentType: options.contentType }
      const { etag } = await this.#commit(at, (target) => rename(file, target), written)
      return { size: written.size, sha256: written.sha256, etag }
    } catch (error) {
      await unlink(file).catch(() => {}) // The sweep removes it if this fails.
      throw explainDisk(error)
    }
  }

  async read(at: ObjectRef, options: ReadOptions = {}): Promise<Readable> {
    options.signal?.throwIfAborted()
    const { info, handle } = await this.open(at)
    try {
      const { offset, length } = checkedRange(info.size, options)
      return await streamOf(handle, offset, length, options.signal)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  async stat(at: ObjectRef): Promise<ObjectInfo | null> {
    const pointer = await this.#find(at)
    return pointer && infoOf(pointer)
  }

  async list(bucket: string, options: ListOptions = {}): Promise<Page> {
    const { prefix = '', cursor = null, limit = LIST_PAGE_SIZE, signal } = options
    checkBucket(bucket)
    checkPrefix(prefix)
    const objects: ListedObject[] = []
    for await (const key of keysOf(path.join(this.#root, bucket), prefix, cursor ?? '')) {
      signal?.throwIfAborted()
      if (objects.length === Math.min(limit, LIST_PAGE_SIZE)) return { objects, next: objects.at(-1)!.key }
      const pointer = await readPointer(placeOf(this.#root, { bucket, key }))
      if (pointer) objects.push({ key, size: pointer.size })
    }
    return { objects, next: null }
  }

  async remove(at: ObjectRef): Promise<void> {
    checkRef(at)
    const place = placeOf(this.#root, at)
    await this.#exclusive(`${at.bucket}/${at.key}`, async () => {
      const pointer = await readPointer(place)
      if (!pointer) return
      await unlink(place.pointer).catch(ignoreMissing)
      await syncFolder(place.folder)
      await unlink(place.data(pointer.data)).catch(ignoreMissing)
    })
    await removeEmptyFolders(path.join(this.#root, at.bucket), place)
  }

  /** A hard link: bytes are never overwritten, so both objects can share them. */
  async copy(from: ObjectRef, to: ObjectRef): Promise<ObjectInfo> {
    checkRef(to)
    return await retried(async () => {
      const { info, path: file, handle } = await this.open(from)
      try {
        return await this.#commit(to, (target) => link(file, target), {
          size: info.size,
          sha256: info.etag.slice(1, -1),
          contentType: info.contentType,
        })
      } finally {
        await handle.close()
      }
    })
  }

  async signPut({ bucket, key, contentType, maxBytes, countFor, expiresInSeconds }: SignPut): Promise<string> {
    return this.#address(
      { method: 'PUT', bucket, key, contentType, maxBytes: maxBytes ?? null, fileName: null, countFor: countFor ?? null, part: null },
      expiresInSeconds,
    )
  }

  async signGet({ bucket, key, contentType, fileName, countFor, expiresInSeconds }: SignGet): Promise<string> {
    return this.#address(
      {
        method: 'GET',
        bucket,
        key,
        contentType: contentType ?? null,
        maxBytes: null,
        fileName: fileName === undefined ? null : displayName(fileName),
        countFor: countFor ?? null,
        part: null,
      },
      expiresInSeconds,
    )
  }

  async source(at: ObjectRef): Promise<ObjectSource> {
    const { info, path: file, handle } = await this.open(at)
    return {
      key: `${at.bucket}/${at.key}:${info.etag}`,
      size: info.size,
      etag: info.etag,
      path: file,
      async fetch(offset, length, signal) {
        signal?.throwIfAborted()
        checkedRange(info.size, { offset, length })
        return await readFully(handle, offset, length)
      },
      close: () => handle.close(),
    }
  }

  uriOf({ bucket, key }: ObjectRef): string {
    return `store://${bucket}/${key}`
  }

  async probe(): Promise<void> {
    await access(this.#staging, constants.W_OK)
  }

  async close(): Promise<void> {}

  /** One version of an object: the handle keeps these bytes even if the object is replaced. */
  async open(at: ObjectRef): Promise<OpenObject> {
    checkRef(at)
    const place = placeOf(this.#root, at)
    return await retried(async () => {
      const pointer = await readPointer(place)
      if (!pointer) throw objectMissing()
      const file = place.data(pointer.data)
      const handle = await openRegular(file)
      if ((await handle.stat()).size === pointer.size) return { info: infoOf(pointer), path: file, handle }
      await handle.close()
      throw new StorageError('damaged', 'An object has another size than was written')
    })
  }

  /** Turns a complete resumable upload into an object. */
  async commitUpload(id: string, at: ObjectRef, contentType: string): Promise<PutResult> {
    checkRef(at)
    const { file, size, sha256 } = await this.uploads.finished(id)
    const { etag } = await this.#commit(at, (target) => rename(file, target), { size, sha256, contentType, uploadId: id })
    return { size, sha256, etag }
  }

  #multipart(): MultipartUploads {
    return {
      create: async (at, contentType) => {
        checkRef(at)
        checkContentType(contentType)
        return { id: await this.parts.create(), hasMd5: true }
      },
      parts: (upload) => this.parts.list(upload),
      signPart: async ({ bucket, key, id, expiresInSeconds, ...part }) =>
        this.#address(
          {
            method: 'PUT',
            bucket,
            key,
            contentType: null,
            maxBytes: null,
            fileName: null,
            countFor: null,
            part: { id, number: part.number, ...partRange(part) },
          },
          expiresInSeconds,
        ),
      complete: async (upload) => {
        checkRef(upload)
        await this.#exclusive(`parts of ${upload.id}`, async () => {
          const finished = await this.parts.finished(upload)
          if (!finished) return
          const { file, sha256 } = finished
          // A second name: if we are killed before the object exists, the parts are still there.
          await this.#commit(upload, (target) => link(file, target), {
            size: upload.totalBytes,
            sha256,
            contentType: upload.contentType,
            uploadId: upload.id,
          })
          await this.parts.remove(upload.id)
        })
      },
      abort: async ({ id }) => await this.parts.remove(id),
    }
  }

  /** The object that this upload created, of any length if the ID names none, if it still exists. */
  async madeBy(id: string, at: ObjectRef): Promise<ObjectInfo | null> {
    const pointer = await this.#find(at)
    return pointer && (pointer.uploadId === id || pointer.uploadId?.startsWith(`${id}-`)) ? infoOf(pointer) : null
  }

  /** Removes what killed processes left and returns the number of files. */
  async sweep(): Promise<number> {
    return await sweepFiles(this.#root, this.#staging, new Date(this.#clock.now().getTime() - STALE_AFTER_MS))
  }

  #stagingFile(): string {
    return path.join(this.#staging, `put-${newVersion()}`)
  }

  /** Writes the bytes under an unused name, then the pointer, which makes the object visible, then syncs. */
  #commit(at: ObjectRef, bring: (target: string) => Promise<void>, metadata: Omit<Pointer, 'data' | 'createdAt'>): Promise<ObjectInfo> {
    const place = placeOf(this.#root, at)
    return this.#exclusive(`${at.bucket}/${at.key}`, () =>
      retried(async () => {
        await makeFolders(this.#root, at)
        const former = await readPointer(place)
        const pointer: Pointer = { data: newVersion(), ...metadata, createdAt: this.#clock.now().toISOString() }
        await bring(place.data(pointer.data))
        await syncFolder(place.folder)
        await writeWhole(this.#stagingFile(), place.pointer, JSON.stringify(pointer))
        await syncFolder(place.folder)
        if (former) await unlink(place.data(former.data)).catch(ignoreMissing)
        return infoOf(pointer)
      }),
    )
  }

  async #find(at: ObjectRef): Promise<Pointer | null> {
    checkRef(at)
    const place = placeOf(this.#root, at)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const pointer = await readPointer(place)
      if (!pointer) return null
      if (await isRegular(place.data(pointer.data), pointer.size)) return pointer
    }
    throw new StorageError('damaged', 'An object has lost its bytes')
  }

  #address(signed: Omit<SignedRequest, 'expires'>, expiresInSeconds: number): string {
    checkRef(signed)
    if (signed.contentType !== null) checkContentType(signed.contentType)
    const expires = Math.floor(this.#clock.now().getTime() / 1000) + checkedSeconds(expiresInSeconds)
    return this.#publicUrl() + signRequest(this.#secrets.current(), { ...signed, expires })
  }
}

function infoOf({ size, sha256, contentType, createdAt }: Pointer): ObjectInfo {
  return { size, etag: `"${sha256}"`, sha256, contentType, lastModified: new Date(createdAt) }
}

/** A stream that owns the handle and closes it. */
export async function streamOf(handle: FileHandle, offset: number, length: number, signal?: AbortSignal): Promise<Readable> {
  if (length > 0)
    return handle.createReadStream({
      start: offset,
      end: offset + length - 1,
      highWaterMark: READ_CHUNK_BYTES,
      autoClose: true,
      ...(signal ? { signal } : {}),
    })
  await handle.close()
  return Readable.from([])
}

async function writeStaging(file: string, chunks: AsyncIterable<Uint8Array>, onProgress?: (bytes: number) => void): Promise<void> {
  const handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
  try {
    let [position, synced] = [0, 0]
    for await (const chunk of chunks) {
      await writeFully(handle, chunk, position)
      position += chunk.length
      if (position - synced >= SYNC_EVERY_BYTES) {
        await handle.datasync()
        synced = position
      }
      onProgress?.(position)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readFully(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, offset + done)
    if (bytesRead === 0) throw new StorageError('damaged', 'An object was truncated while it was read')
    done += bytesRead
  }
  return bytes
}

/** Removes folders that are now empty; a folder that got a new object meanwhile stays, because rmdir fails. */
async function removeEmptyFolders(bucketFolder: string, { folder }: Place): Promise<void> {
  for (let at = folder; at !== bucketFolder; at = path.dirname(at)) {
    const isGone = await rmdir(at).then(
      () => true,
      (error: unknown) => {
        if (isMissing(error) || hasCode(error, 'ENOTEMPTY', 'EEXIST')) return false
        throw error
      },
    )
    if (!isGone) return
  }
}

/** Another writer can remove a folder or replace a version between two of our steps; retry a few times. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isMissing(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

const ignoreMissing = (error: unknown): void => {
  if (!isMissing(error)) throw error
}

/** One operation per name at a time, in order. Atomic file system operations isolate other processes. */
function keyedLock(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async (name, work) => {
    const mine = (last.get(name) ?? Promise.resolve()).then(work, work)
    last.set(name, mine)
    try {
      return await mine
    } finally {
      if (last.get(name) === mine) last.delete(name)
    }
  }
}
