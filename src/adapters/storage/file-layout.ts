/**
 * How objects are stored on disk. The object `a/b.tif` of a bucket is two files in the folder `<root>/<bucket>/a`:
 *
 *   b.tif@0f3c…       the bytes, under a name that is used once and never overwritten
 *   b.tif@meta.json   the pointer: which bytes, their size, hash and media type
 *
 * Renaming the pointer makes the object visible in one step, so bytes and metadata always agree and a reader of the previous
 * version keeps its file. No key can contain '@', so an object never conflicts with a folder.
 */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, readFile, realpath, rename, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { objectMissing, StorageError, type ObjectRef } from '#ports/storage.ts'

export const POINTER_ENDING = '@meta.json'
export const DATA_NAME = /^(.+)@([0-9a-f]{16})$/
/** No bucket name starts with a dot. */
export const STAGING_FOLDER = '.incoming'

const MAX_POINTER_BYTES = 4_096

export interface Pointer {
  readonly data: string
  readonly size: number
  readonly sha256: string
  readonly contentType: string
  readonly createdAt: string
  /** The resumable upload that created it, so that a client that lost the last response can confirm completion. */
  readonly uploadId?: string
}

export interface Place {
  readonly folder: string
  readonly pointer: string
  data(version: string): string
}

export const newVersion = (): string => randomBytes(8).toString('hex')

/** Callers have validated bucket and key against `keys.ts`; this only builds the path. */
export function placeOf(root: string, { bucket, key }: ObjectRef): Place {
  const segments = key.split('/')
  const name = segments.pop()!
  const folder = path.join(root, bucket, ...segments)
  return { folder, pointer: path.join(folder, name + POINTER_ENDING), data: (version) => path.join(folder, `${name}@${version}`) }
}

/** Key patterns keep a key inside its bucket; this check also stops symbolic links that lead out of it. */
export async function checkRealFolder(folder: string): Promise<void> {
  const real = await realpath(folder).catch((error: unknown) => {
    throw isMissing(error) ? objectMissing() : error
  })
  if (real !== folder) throw new StorageError('damaged', 'A folder of the object store is a symbolic link')
}

/** Creates the folder of an object, one level at a time, in its existing bucket. */
export async function makeFolders(root: string, { bucket, key }: ObjectRef): Promise<void> {
  let folder = path.join(root, bucket)
  await checkRealFolder(folder)
  for (const segment of key.split('/').slice(0, -1)) {
    const parent = folder
    folder = path.join(parent, segment)
    const isNew = await mkdir(folder).then(
      () => true,
      (error: unknown) => {
        if (hasCode(error, 'EEXIST')) return false
        throw error
      },
    )
    if (isNew) await syncFolder(parent)
  }
  await checkRealFolder(folder)
}

export async function readPointer(place: Place): Promise<Pointer | null> {
  try {
    await checkRealFolder(place.folder)
    const handle = await openRegular(place.pointer)
    try {
      if ((await handle.stat()).size > MAX_POINTER_BYTES) throw new StorageError('damaged', 'The metadata of an object is too long')
      return parsePointer(await readFile(handle, 'utf8'))
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isMissing(error) || (error instanceof StorageError && error.code === 'not-found')) return null
    throw error
  }
}

function parsePointer(text: string): Pointer {
  let value: Partial<Pointer> | null = null
  try {
    value = JSON.parse(text) as Partial<Pointer> | null
  } catch {
    /* Judged below. */
  }
  const isWhole =
    value &&
    /^[0-9a-f]{16}$/.test(value.data ?? '') &&
    Number.isSafeInteger(value.size) &&
    /^[0-9a-f]{64}$/.test(value.sha256 ?? '') &&
    typeof value.contentType === 'string' &&
    typeof value.createdAt === 'string'
  if (!isWhole) throw new StorageError('damaged', 'The metadata of an object is invalid')
  return value as Pointer
}

export async function openRegular(file: string): Promise<FileHandle> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    throw hasCode(error, 'ELOOP') ? new StorageError('damaged', 'A file of the object store is a symbolic link') : error
  })
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw new StorageError('damaged', 'An entry of the object store is not a regular file')
}

export async function isRegular(file: string, size: number): Promise<boolean> {
  const stats = await lstat(file).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  return stats !== null && stats.isFile() && stats.size === size
}

/** A rename is durable only after its folder is synced. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Writes a small file atomically: to the staging folder, synced, then renamed. */
export async function writeWhole(staging: string, target: string, text: string): Promise<void> {
  const handle = await open(staging, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(staging, target)
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | null)?.code ?? '')
}

export const isMissing = (error: unknown): boolean => hasCode(error, 'ENOENT', 'ENOTDIR')

/** A full disk has its own error, because the operator can fix it. */
export function explainDisk(error: unknown): unknown {
  return hasCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG')
    ? new StorageError('full', 'The object store has no disk space left', { cause: error })
    : error
}
