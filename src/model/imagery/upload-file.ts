/** The files of upload sessions, from the first signed address to the end of their conversion. */
import { sql } from 'kysely'
import { displayName, keySegment } from '#core/file-names.ts'
import { newId } from '#core/ids.ts'
import { notFound, problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { PartUpload } from '#ports/storage.ts'
import * as uploads from './upload.ts'

export const MAX_FILES_PER_SESSION = 100

const COLUMNS = [
  'id',
  'upload_id as uploadId',
  'ordinal',
  'name',
  // As the caller wrote it; no two files of a session have the same.
  'given_name as givenName',
  'content_type as contentType',
  // Where signed addresses lead.
  'object_key as objectKey',
  'state',
  'step',
  'fraction',
  'error',
  'size_bytes as sizeBytes',
  'item_id as itemId',
  'asset_id as assetId',
  // The copy that is being converted.
  'source_key as sourceKey',
  'attempts',
  // The upload in parts that is under way, if the store takes files so.
  'parts_id as partsId',
  'part_bytes as partBytes',
  'parts_total_bytes as partsTotalBytes',
  'position',
] as const

export type UploadFile = Row<'upload_file', typeof COLUMNS>
/** Where whoever uploaded a file says that its image lies. */
export type UploadPosition = NonNullable<UploadFile['position']>

export async function list(db: Db, uploadId: string): Promise<UploadFile[]> {
  return await db.selectFrom('upload_file').select(COLUMNS).where('upload_id', '=', uploadId).orderBy('ordinal').execute()
}

/** By session; a session has at most `MAX_FILES_PER_SESSION`. */
export async function listMany(db: Db, uploadIds: readonly string[]): Promise<Map<string, UploadFile[]>> {
  if (uploadIds.length === 0) return new Map()
  const files = await db.selectFrom('upload_file').select(COLUMNS).where('upload_id', 'in', uploadIds).orderBy('ordinal').execute()
  return Map.groupBy(files, ({ uploadId }) => uploadId)
}

/**
 * The file of a session that goes by this name, made if it is new: asking again for the same name gives an address for
 * the same object. A file that was refused may come again. The caller holds the session's row.
 */
export async function put(tx: Tx, uploadId: string, given: { name: string; contentType: string }, now: Date): Promise<UploadFile> {
  const known = await tx
    .updateTable('upload_file')
    .set({ content_type: given.contentType, state: 'awaiting', step: 'upload', error: null, updated_at: now })
    .where('upload_id', '=', uploadId)
    .where('given_name', '=', given.name)
    .where('state', 'in', ['awaiting', 'refused'])
    .returning(COLUMNS)
    .executeTakeFirst()
  if (known) return known
  const { count } = await tx
    .selectFrom('upload_file')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('upload_id', '=', uploadId)
    .executeTakeFirstOrThrow()
  if (count >= MAX_FILES_PER_SESSION)
    throw problem('bad-request', `An upload session takes at most ${MAX_FILES_PER_SESSION} files; open another one for the rest`)
  const id = newId()
  return await tx
    .insertInto('upload_file')
    .values({
      id,
      upload_id: uploadId,
      ordinal: count + 1,
      given_name: given.name,
      name: displayName(given.name),
      content_type: given.contentType,
      object_key: `uploads/${uploadId}/${count + 1}/${keySegment(given.name)}`,
      step: 'upload',
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** The upload in parts that belongs to a file; null: it has none. */
export function partsOf({ objectKey, partsId, partBytes, partsTotalBytes }: UploadFile, bucket: string): PartUpload | null {
  return partsId === null ? null : { bucket, key: objectKey, id: partsId, partBytes: partBytes!, totalBytes: partsTotalBytes! }
}

/** Notes a new upload in parts instead of `former`. False: somebody else has. */
export async function beginParts(
  db: Db,
  file: UploadFile,
  begun: { id: string; partBytes: number; totalBytes: number },
  now: Date,
): Promise<boolean> {
  const done = await db
    .updateTable('upload_file')
    .set({ parts_id: begun.id, part_bytes: begun.partBytes, parts_total_bytes: begun.totalBytes, updated_at: now })
    .where('id', '=', file.id)
    .where('parts_id', 'is not distinct from', file.partsId)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** The parts have become an object, or are given up. */
export async function endParts(db: Db, id: string, partsId: string): Promise<void> {
  await db
    .updateTable('upload_file')
    .set({ parts_id: null, part_bytes: null, parts_total_bytes: null })
    .where('id', '=', id)
    .where('parts_id', '=', partsId)
    .execute()
}

/** Where a refused file is that needs nothing but a position: its bytes are kept until the session ends. */
const POSITION_STEP = 'position'

export const waitsForPosition = ({ state, step }: UploadFile): boolean => state === 'refused' && step === POSITION_STEP

/** Its bytes are removed by the caller, unless it only lacks a position. */
export async function refuse(tx: Tx, id: string, reason: { error: string; lacksPosition: boolean }, now: Date): Promise<void> {
  await tx
    .updateTable('upload_file')
    .set({ state: 'refused', step: reason.lacksPosition ? POSITION_STEP : 'check', error: reason.error, updated_at: now })
    .where('id', '=', id)
    .where('state', 'in', ['awaiting', 'refused'])
    .execute()
}

export interface Stored {
  id: string
  sizeBytes: number
  itemId: string
  assetId: string
  /** What is yet to be converted; null: it is ready. */
  sourceKey: string | null
  /** Where the caller says that it lies. */
  position: UploadPosition | null
}

/** The file has become an asset, to be shown at once or after its conversion. */
export async function store(tx: Tx, { id, sizeBytes, itemId, assetId, sourceKey, position }: Stored, now: Date): Promise<void> {
  const where =
    sourceKey === null
      ? { state: 'ready' as const, step: 'done', fraction: 1 }
      : { state: 'converting' as const, step: 'queued', fraction: 0 }
  await tx
    .updateTable('upload_file')
    .set({
      ...where,
      size_bytes: sizeBytes,
      item_id: itemId,
      asset_id: assetId,
      source_key: sourceKey,
      error: null,
      position: position && JSON.stringify(position),
      updated_at: now,
    })
    .where('id', '=', id)
    .execute()
}

/** A run that has given no sign of life for so long is taken to be dead. */
const SILENT_MS = 120_000
/** Faults of ours or of the store, not of the file: after so many the file is given up. */
export const MAX_ATTEMPTS = 6

/** Takes a conversion on. Null: it is done, or somebody works on it. */
export async function claim(db: Db, id: string, now: Date): Promise<(UploadFile & { runId: string }) | null> {
  const runId = newId()
  const row = await db
    .updateTable('upload_file')
    .set({ run_id: runId, attempts: sql<number>`attempts + 1`, heartbeat_at: now, step: 'convert', fraction: 0, updated_at: now })
    .where('id', '=', id)
    .where('state', '=', 'converting')
    .where((where) => where.or([where('heartbeat_at', 'is', null), where('heartbeat_at', '<=', new Date(now.getTime() - SILENT_MS))]))
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ? { ...row, runId } : null
}

/** Notes how far a run is, and that it lives. False: the file is no longer this run's. */
export async function beat(
  db: Db,
  run: { id: string; runId: string },
  at: { step: string; fraction: number },
  now: Date,
): Promise<boolean> {
  const done = await db
    .updateTable('upload_file')
    .set({ ...at, heartbeat_at: now, updated_at: now })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('state', '=', 'converting')
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** Lets go of a conversion, so that the next attempt need not wait. */
export async function free(db: Db, run: { id: string; runId: string }, now: Date): Promise<void> {
  await db
    .updateTable('upload_file')
    .set({ heartbeat_at: null, step: 'queued', updated_at: now })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('state', '=', 'converting')
    .execute()
}

/** Ends a conversion. False: another run did, and this one's work is for nothing. */
export async function finish(
  tx: Tx,
  run: { id: string; runId: string },
  outcome: { sizeBytes: number } | { step: string; error: string },
  now: Date,
): Promise<boolean> {
  const end =
    'error' in outcome
      ? { state: 'failed' as const, step: outcome.step, error: outcome.error }
      : { state: 'ready' as const, step: 'done', fraction: 1, size_bytes: outcome.sizeBytes }
  const done = await tx
    .updateTable('upload_file')
    .set({ ...end, heartbeat_at: null, updated_at: now })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('state', '=', 'converting')
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** Why an item that an upload made is gone: its only file could not be converted. */
export async function failureOf(db: Db, uploadId: string, itemId: string): Promise<{ name: string; error: string } | null> {
  const row = await db
    .selectFrom('upload_file')
    .select(['name', 'error'])
    .where('upload_id', '=', uploadId)
    .where('item_id', '=', itemId)
    .where('state', '=', 'failed')
    .executeTakeFirst()
  return row?.error == null ? null : { name: row.name, error: row.error }
}

/** Conversions that nobody works on; each is named at most once in `SILENT_MS`. */
export async function forgotten(tx: Tx, now: Date): Promise<string[]> {
  const since = new Date(now.getTime() - SILENT_MS)
  const rows = await tx
    .updateTable('upload_file')
    .set({ updated_at: now })
    .where('state', '=', 'converting')
    .where('updated_at', '<=', since)
    .where((where) => where.or([where('heartbeat_at', 'is', null), where('heartbeat_at', '<=', since)]))
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

/**
 * Gives a file room for what is about to come: from what its session announced as long as that lasts, then from the quota of
 * the organization, 402 where that is used up. A smaller file than before gives nothing back until the session ends.
 */
export async function reserveBytes(tx: Tx, id: string, bytes: number, now: Date): Promise<void> {
  const found = await tx.selectFrom('upload_file').select('upload_id as uploadId').where('id', '=', id).executeTakeFirst()
  if (!found) throw notFound('upload')
  const session = uploads.requireOpen(await uploads.lock(tx, found.uploadId))
  const files = await tx
    .selectFrom('upload_file')
    .select(['id', 'reserved_bytes as reservedBytes'])
    .where('upload_id', '=', found.uploadId)
    .execute()
  const own = files.find((file) => file.id === id)!.reservedBytes
  if (bytes <= own) return
  const taken = files.reduce((sum, file) => sum + file.reservedBytes, bytes - own)
  await uploads.reserveUpTo(tx, session, taken)
  await tx.updateTable('upload_file').set({ reserved_bytes: bytes, updated_at: now }).where('id', '=', id).execute()
}
