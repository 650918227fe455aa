/** Upload sessions: access, their storage reservation, and how they end. Their files are in upload-file.ts. */
import { HOUR_MS } from '#core/time.ts'
import { sql } from 'kysely'
import { isUuid, newId } from '#core/ids.ts'
import type { Principal } from '#core/principal.ts'
import { notFound, problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'

/** A session without progress for this long fails. */
export const SESSION_HOURS = 24

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'bucket',
  'state',
  'file_count as fileCount',
  'total_bytes as totalBytes',
  // Storage reserved from the quota; zero once the session is closed.
  'reserved_bytes as reservedBytes',
  // As reported by the client or measured in the store, whichever is more.
  'bytes_uploaded as bytesUploaded',
  'target_collection_id as targetCollectionId',
  'target_item_id as targetItemId',
  'asset_key as assetKey',
  'is_categorical as isCategorical',
  'item_ids as itemIds',
  'error_step as errorStep',
  'error_message as errorMessage',
  'created_at as createdAt',
  'updated_at as updatedAt',
  'progress_at as progressAt',
  'closed_at as closedAt',
] as const

export type Upload = Row<'upload_session', typeof COLUMNS>

export interface UploadWithProject {
  upload: Upload
  project: projects.Project
}

/** For editors and admins of the session's project; 404 if the caller cannot see it. */
export async function requireEditor(db: Db, principal: Principal, id: string): Promise<UploadWithProject> {
  const upload = isUuid(id) ? await db.selectFrom('upload_session').select(COLUMNS).where('id', '=', id).executeTakeFirst() : undefined
  if (!upload || !(await projects.exists(db, principal, upload.projectId))) throw notFound('upload session')
  return { upload, project: await projects.requireRole(db, principal, upload.projectId, 'editor') }
}

/** 400 for a session that has ended, with the reason. */
export function requireOpen(upload: Upload): Upload {
  if (upload.state === 'failed')
    throw problem('bad-request', `This upload session has failed (${upload.errorMessage}); open a new one with uploads.initiate`)
  if (upload.state === 'completed') throw problem('bad-request', 'This upload session is completed; open a new one with uploads.initiate')
  return upload
}

/** By ID only, for callers who have already checked access. */
export async function get(db: Db, id: string): Promise<Upload> {
  return await db.selectFrom('upload_session').select(COLUMNS).where('id', '=', id).executeTakeFirstOrThrow()
}

/** Newest first. */
export async function list(
  db: Db,
  { projectId, state, limit, offset }: { projectId: string; state: Upload['state'] | null; limit: number; offset: number },
): Promise<{ uploads: Upload[]; total: number }> {
  const matching = db
    .selectFrom('upload_session')
    .where('project_id', '=', projectId)
    .$if(state !== null, (query) => query.where('state', '=', state!))
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const uploads = await matching.select(COLUMNS).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).offset(offset).execute()
  return { uploads, total: Number(total) }
}

/** Locks the row and returns its current state. */
export async function lock(tx: Tx, id: string): Promise<Upload> {
  return await tx.selectFrom('upload_session').select(COLUMNS).where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
}

interface NewUpload {
  organizationId: string
  projectId: string
  bucket: string
  fileCount: number
  totalBytes: number
  targetCollectionId: string | null
  targetItemId: string | null
  assetKey: string | null
  isCategorical: boolean
  createdBy: string | null
  now: Date
}

/** Opens a session and reserves the announced size; 402 if it does not fit the quota. */
export async function insert(tx: Tx, upload: NewUpload): Promise<Upload> {
  const { now } = upload
  await storageAccounts.reserve(tx, upload.organizationId, upload.totalBytes)
  return await tx
    .insertInto('upload_session')
    .values({
      id: newId(),
      org_id: upload.organizationId,
      project_id: upload.projectId,
      bucket: upload.bucket,
      file_count: upload.fileCount,
      total_bytes: upload.totalBytes,
      reserved_bytes: upload.totalBytes,
      target_collection_id: upload.targetCollectionId,
      target_item_id: upload.targetItemId,
      asset_key: upload.assetKey,
      is_categorical: upload.isCategorical,
      created_by: upload.createdBy,
      created_at: now,
      updated_at: now,
      progress_at: now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Raises a session's reservation to at least this size; 402 if it does not fit the quota. The caller has locked its row. */
export async function reserveUpTo(tx: Tx, session: Upload, bytes: number): Promise<void> {
  const missing = bytes - session.reservedBytes
  if (missing <= 0) return
  await storageAccounts.reserve(tx, session.organizationId, missing)
  await tx.updateTable('upload_session').set({ reserved_bytes: bytes }).where('id', '=', session.id).execute()
}

/** Records how many bytes the store has. This is not progress: reading the status does not keep a session open. */
export async function noteBytes(tx: Tx, id: string, bytes: number): Promise<Upload> {
  const row = await tx
    .updateTable('upload_session')
    .set({ bytes_uploaded: sql<number>`greatest(bytes_uploaded, ${bytes})` })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? (await get(tx, id))
}

/** Records progress reported by the client. Leaves a session that has ended unchanged. */
export async function progress(tx: Tx, id: string, bytesUploaded: number | null, now: Date): Promise<Upload> {
  const row = await tx
    .updateTable('upload_session')
    .set({
      state: 'uploading',
      progress_at: now,
      updated_at: now,
      ...(bytesUploaded === null ? {} : { bytes_uploaded: sql<number>`greatest(bytes_uploaded, ${bytesUploaded})` }),
    })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? (await get(tx, id))
}

/** Completes a session whose items exist. The caller has locked its row and settled its reservation. */
export async function complete(
  tx: Tx,
  id: string,
  { itemIds, bytes }: { itemIds: readonly string[]; bytes: number },
  now: Date,
): Promise<void> {
  await tx
    .updateTable('upload_session')
    .set({ state: 'completed', item_ids: [...itemIds], bytes_uploaded: bytes, reserved_bytes: 0, updated_at: now, closed_at: now })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .execute()
}

/** Ends a session without items and releases its reservation. Returns false if it had already ended. */
export async function fail(tx: Tx, id: string, reason: { step: string | null; message: string }, now: Date): Promise<boolean> {
  const session = await lock(tx, id)
  if (session.closedAt) return false
  await tx
    .updateTable('upload_session')
    .set({ state: 'failed', error_step: reason.step, error_message: reason.message, reserved_bytes: 0, updated_at: now, closed_at: now })
    .where('id', '=', id)
    .execute()
  await storageAccounts.release(tx, session.organizationId, session.reservedBytes)
  return true
}

/**
 * Called when a file of a completed session could not be converted and has ended. Without other files the session fails after all;
 * otherwise it stays completed, and only the file shows the failure.
 */
export async function failFile(tx: Tx, id: string, reason: { step: string; message: string }, now: Date): Promise<void> {
  const { others } = await tx
    .selectFrom('upload_file')
    .select((e) => e.fn.countAll<number>().as('others'))
    .where('upload_id', '=', id)
    .where('state', 'in', ['converting', 'ready'])
    .executeTakeFirstOrThrow()
  if (others > 0) return
  await tx
    .updateTable('upload_session')
    .set({ state: 'failed', error_step: reason.step, error_message: reason.message, updated_at: now })
    .where('id', '=', id)
    .execute()
}

const MAX_EXPIRED_PER_PASS = 1_000

/** Abandoned sessions: without progress for a day, or of a deleted project. */
export async function abandoned(db: Db, now: Date): Promise<{ id: string; organizationId: string; isProjectGone: boolean }[]> {
  const since = new Date(now.getTime() - SESSION_HOURS * HOUR_MS)
  const { rows } = await sql<{ id: string; organizationId: string; isProjectGone: boolean }>`
    select u.id, u.org_id as "organizationId", p.deleted_at is not null as "isProjectGone" from upload_session u join project p
      on p.id = u.project_id
    where u.closed_at is null and (u.progress_at <= ${since} or p.deleted_at is not null)
      order by u.progress_at limit ${MAX_EXPIRED_PER_PASS}
  `.execute(db)
  return rows
}

/** When the session expires unless there is progress. */
export function expiresAt(upload: Upload): Date | null {
  return upload.closedAt ? null : new Date(upload.progressAt.getTime() + SESSION_HOURS * HOUR_MS)
}
