/**
 * The folder of a backup:
 *
 *   manifest.json            what it contains; written last, so that a folder without it is no backup
 *   tables/public.item.gz    the rows of a table, in the text format of PostgreSQL's COPY, compressed
 *   objects.ndjson           one line for every object: its name, size, type and SHA-256
 *   objects/                 the objects, in the layout of DATA_DIR/objects
 */
import { constants, existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openFileStore, type FileStore } from '#adapters/storage/files.ts'
import { fixedSecret, SECRET_BYTES } from '#adapters/storage/signature.ts'
import { systemClock } from '#core/clock.ts'
import type { ObjectRef } from '#ports/storage.ts'

/** Its message says in one line why a backup cannot be taken or used. */
export class BackupError extends Error {}

export interface TableEntry {
  readonly name: string
  readonly columns: readonly string[]
  readonly rows: number
  /** Of the text before compression. */
  readonly bytes: number
  readonly sha256: string
}

export interface SequenceEntry {
  readonly name: string
  readonly last: string
  readonly is_called: boolean
}

export interface ObjectEntry extends ObjectRef {
  readonly size: number
  readonly content_type: string
  readonly sha256: string
}

export interface ObjectTotals {
  readonly count: number
  readonly bytes: number
  /** Of `objects.ndjson`. */
  readonly sha256: string
}

export interface Manifest {
  readonly format: string
  readonly version: number
  /** Of this backup. */
  readonly id: string
  readonly created_at: string
  readonly groundtrack: string
  /** The migrations that the database had, and the version of the queue's schema. */
  readonly migrations: readonly string[]
  readonly queue_version: number
  /** Identifies the key that encrypts credentials in the database, without revealing it; null if there was none. */
  readonly secrets_key: string | null
  readonly tables: readonly TableEntry[]
  readonly sequences: readonly SequenceEntry[]
  readonly buckets: readonly string[]
  readonly objects: ObjectTotals
  /** What was wrong with the installation itself, such as files that had been lost before. */
  readonly problems: readonly string[]
}

export const FORMAT = 'groundtrack-backup'
/** Of one organization. */
export const ORG_FORMAT = 'groundtrack-organization'
export const FORMAT_VERSION = 1
const MANIFEST = 'manifest.json'
/** In the folder until the manifest is there: an interrupted backup can be continued, anything else is not touched. */
const UNFINISHED = 'unfinished'
const FOLDER_MODE = 0o700

export const tableFile = (folder: string, table: string): string => path.join(folder, 'tables', `${table}.gz`)
export const objectList = (folder: string): string => path.join(folder, 'objects.ndjson')

/** Creates the folder, or continues a backup into it that was interrupted. */
export async function beginFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  const names = await readdir(folder)
  if (names.length > 0 && !names.includes(UNFINISHED))
    throw new BackupError(`${folder} is not empty: name a folder that does not exist yet`)
  await writeFile(path.join(folder, UNFINISHED), 'This backup is not complete.\n', { flush: true })
  await mkdir(path.join(folder, 'tables'), { recursive: true, mode: FOLDER_MODE })
}

/** The manifest makes the folder a backup. */
export async function finishFolder(folder: string, manifest: Manifest): Promise<void> {
  const part = path.join(folder, `${MANIFEST}.part`)
  await writeFile(part, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true })
  await rename(part, path.join(folder, MANIFEST))
  await rm(path.join(folder, UNFINISHED))
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export async function readManifest(folder: string, formats: readonly string[]): Promise<Manifest> {
  const file = path.join(folder, MANIFEST)
  if (!existsSync(file)) {
    const isUnfinished = existsSync(path.join(folder, UNFINISHED))
    throw new BackupError(isUnfinished ? `The backup in ${folder} was interrupted: take it again` : `${folder} contains no ${MANIFEST}`)
  }
  let manifest: Partial<Manifest> | null = null
  try {
    manifest = JSON.parse(await readFile(file, 'utf8')) as Partial<Manifest>
  } catch {
    // Judged below.
  }
  if (!formats.includes(manifest?.format ?? '')) throw new BackupError(`${file} is not the manifest of a ${formats.join(' or a ')}`)
  if (manifest!.version !== FORMAT_VERSION)
    throw new BackupError(`${file} has format ${manifest!.version}, and this version of Groundtrack reads ${FORMAT_VERSION}`)
  return manifest as Manifest
}

/** Nobody signs URLs of a backup. */
export async function openObjects(folder: string): Promise<FileStore> {
  const secrets = fixedSecret(Buffer.alloc(SECRET_BYTES))
  return await openFileStore({ root: path.join(folder, 'objects'), publicUrl: () => 'http://backup.invalid', secrets, clock: systemClock })
}
