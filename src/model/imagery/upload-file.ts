/** Files of upload sessions, from the first signed URL to the end of their conversion. */
import { sql } from 'kysely'
import { displayName, keySegment } from '#core/file-names.ts'
import { newId } from '#core/ids.ts'
import { notFound, problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { MultipartUpload } from '#ports/storage.ts'
import * as uploads from './upload.ts'

export const MAX_FILES_PER_SESSION = 100

const COLUMNS = [
  'id',
  'upload_id as uploadId',
  'ordinal',
  'name',
  // As sent by the caller; unique within a session.
  'given_name as givenName',
  'content_type as contentType',
  // The target of signed URLs.
  'object_key as objectKey',
  'state',
  'step',
  'fraction',
  'error',
  'size_bytes as sizeBytes',
  'item_id as itemId',
  'asset_id as assetId',
  // The copy being converted.
  'source_key as sourceKey',
  'attempts',
  // The multipart upload in progress.
  'parts_id as partsId',
  'part_bytes as partBytes',
  'parts_total_bytes as partsTotalBytes',
  // Where its object will be, or is once the upload has ended.
  'parts_key as partsKey',
  'parts_have_md5 as partsHaveMd5',
  'position',
] as const

export type UploadFile = Row<'upload_file', typeof COLUMNS>
/** The position of an image, as stated by the user who uploaded it. */
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
 * The file with this name in a session, created if it is new: repeated requests for a name get a URL for the same object. A rejected
 * file can be uploaded again. The caller has locked the session's row.
 */
export async function put(tx: Tx, uploadId: string, request: { name: string; contentType: string }, now: Date): Promise<UploadFile> {
  const existing = await tx
    .updateTable('upload_file')
    .set({ content_type: request.contentType, state: 'awaiting', step: 'upload', error: null, updated_at: now })
    .where('upload_id', '=', uploadId)
    .where('given_name', '=', request.name)
    .where('state', 'in', ['awaiting', 'refused'])
    .returning(COLUMNS)
    .executeTakeFirst()
  if (existing) return existing
  const { count } = await tx
    .selectFrom('upload_file')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('upload_id', '=', uploadId)
    .executeTakeFirstOrThrow()
  if (count >= MAX_FILES_PER_SESSION)
    throw problem('bad-request', `An upload session can have at most ${MAX_FILES_PER_SESSION} files; open another for the rest`)
  const id = newId()
  return await tx
    .insertInto('upload_file')
    .values({
      id,
      upload_id: uploadId,
      ordinal: count + 1,
      given_name: request.name,
      name: displayName(request.name),
      content_type: request.contentType,
      object_key: `uploads/${uploadId}/${count + 1}/${keySegment(request.name)}`,
      step: 'upload',
      created_at: now,
      updated_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** The multipart upload of a file; null if it has none. */
export function partsOf(file: UploadFile, bucket: string): MultipartUpload | null {
  if (file.partsId === null) return null
  return {
    bucket,
    // An upload that began before the key was recorded has that of the file.
    key: file.partsKey ?? file.objectKey,
    id: file.partsId,
    partBytes: file.partBytes!,
    totalBytes: file.partsTotalBytes!,
    hasMd5: file.partsHaveMd5 ?? false,
    contentType: file.contentType,
  }
}

/** Replaces the multipart upload of a file. Returns false if a concurrent call replaced it. */
export async function beginParts(db: Db, file: UploadFile, upload: MultipartUpload, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('upload_file')
    .set({
      parts_id: upload.id,
      part_bytes: upload.partBytes,
      parts_total_bytes: upload.totalBytes,
      parts_key: upload.key,
      parts_have_md5: upload.hasMd5,
      updated_at: now,
    })
    .where('id', '=', file.id)
    .where('parts_id', 'is not distinct from', file.partsId)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** The multipart upload was completed; its object stays. */
export async function endParts(db: Db, id: string, partsId: string): Promise<void> {
  await db
    .updateTable('upload_file')
    .set({ parts_id: null, part_bytes: null, parts_total_bytes: null })
    .where('id', '=', id)
    .where('parts_id', '=', partsId)
    .execute()
}

/** The file will be sent as a whole instead. The sweep removes what has arrived in parts. */
export async function forgetParts(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('upload_file')
    .set({ parts_id: null, part_bytes: null, parts_total_bytes: null, parts_key: null, parts_have_md5: null })
    .where('id', '=', id)
    .where((where) => where.or([where('parts_id', 'is not', null), where('parts_key', 'is not', null)]))
    .execute()
}

/** The step of a rejected file that only lacks a position: its bytes are kept until the session ends. */
const POSITION_STEP = 'position'

export const waitsForPosition = ({ state, step }: UploadFile): boolean => state === 'refused' && step === POSITION_STEP

/** The caller removes the bytes, unless the file only lacks a position. */
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
  /** The object to convert; null if the file is ready. */
  sourceKey: string | null
  /** As stated by the caller. */
  position: UploadPosition | null
}

/** The file has become an asset, ready now or after its conversion. */
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

/** A run without a heartbeat for this long is considered dead. */
const SILENT_MS = 120_000
/** Failures of the service or the store, not of the file: after this many attempts the file fails. */
export const MAX_ATTEMPTS = 6

/** Claims a conversion. Returns null if it is done or another run has it. */
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

/** Records a heartbeat with the progress. Returns false if the file belongs to another run. */
export async function heartbeat(
  db: Db,
  run: { id: string; runId: string },
  at: { step: string; fraction: number },
  now: Date,
): Promise<boolean> {
  const result = await db
    .updateTable('upload_file')
    .set({ ...at, heartbeat_at: now, updated_at: now })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('state', '=', 'converting')
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Releases a conversion, so that the next attempt need not wait. */
export async function release(db: Db, run: { id: string; runId: string }, now: Date): Promise<void> {
  await db
    .updateTable('upload_file')
    .set({ heartbeat_at: null, step: 'queued', updated_at: now })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('state', '=', 'converting')
    .execute()
}

/** Ends a conversion. Returns false if another run did; this run's work is then discarded. */
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
  const result = await tx
    .updateTable('upload_file')
    .set({ ...end, heartbeat_at: null, updated_at: now })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('state', '=', 'converting')
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Why an item created by an upload was deleted: its only file could not be converted. */
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

/** Conversions that nobody works on; each is returned at most once per `SILENT_MS`. */
export async function stalled(tx: Tx, now: Date): Promise<string[]> {
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
 * Reserves storage for a file: from its session's reservation while that suffices, then from the organization's quota; 402 if that is
 * used up. A smaller file than before releases nothing until the session ends.
 */
export async function reserveBytes(tx: Tx, id: string, bytes: number, now: Date): Promise<void> {
  const requested = await tx.selectFrom('upload_file').select('upload_id as uploadId').where('id', '=', id).executeTakeFirst()
  if (!requested) throw notFound('upload')
  const session = uploads.requireOpen(await uploads.lock(tx, requested.uploadId))
  const files = await tx
    .selectFrom('upload_file')
    .select(['id', 'reserved_bytes as reservedBytes'])
    .where('upload_id', '=', requested.uploadId)
    .execute()
  const own = files.find((file) => file.id === id)!.reservedBytes
  if (bytes <= own) return
  const taken = files.reduce((sum, file) => sum + file.reservedBytes, bytes - own)
  await uploads.reserveUpTo(tx, session, taken)
  await tx.updateTable('upload_file').set({ reserved_bytes: bytes, updated_at: now }).where('id', '=', id).execute()
}
