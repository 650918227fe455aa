/**
 * Files that expire: reports, and rasters computed by analytics (table `kept_file`). They count as storage of their organization
 * until they are removed.
 */
import type { Principal } from '#core/principal.ts'
import { notFound } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from './storage-account.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'bucket',
  'object_key as objectKey',
  'size_bytes as sizeBytes',
  // The style of a raster; null for documents.
  'look as style',
  'expires_at as expiresAt',
] as const

type ExpiringFile = Row<'kept_file', typeof COLUMNS>

/** The style of a raster's tiles, and the projects it was computed from; a caller must be able to read all of them. */
export interface RasterStyle {
  projectIds: readonly string[]
  band: number
  colormap: string
  range: readonly [number, number]
}

interface NewFile {
  id: string
  organizationId: string
  bucket: string
  objectKey: string
  sizeBytes: number
  style: RasterStyle | null
  expiresAt: Date
}

/** 402 if it exceeds the storage quota. */
export async function insert(tx: Tx, file: NewFile, now: Date): Promise<void> {
  await storageAccounts.requireFreeBytes(tx, file.organizationId, file.sizeBytes)
  await tx
    .insertInto('kept_file')
    .values({
      id: file.id,
      org_id: file.organizationId,
      bucket: file.bucket,
      object_key: file.objectKey,
      size_bytes: file.sizeBytes,
      look: file.style && JSON.stringify(file.style),
      created_at: now,
      expires_at: file.expiresAt,
    })
    .execute()
  await storageAccounts.move(tx, file.organizationId, file.sizeBytes)
}

const RESULT = 'result, or it has expired'

/** A raster that can still be rendered. 404 if it has expired or comes from projects that do not exist for the caller. */
export async function requireRaster(db: Db, principal: Principal, id: string, now: Date): Promise<ExpiringFile & { style: RasterStyle }> {
  const file = await db.selectFrom('kept_file').select(COLUMNS).where('id', '=', id).where('expires_at', '>', now).executeTakeFirst()
  if (!file?.style) throw notFound(RESULT)
  const { projectIds } = file.style
  for (const projectId of projectIds) await projects.unlessHidden(RESULT, () => projects.requireReader(db, principal, projectId))
  return { ...file, style: file.style }
}

/** Files that expired before a time, oldest first. */
export async function expired(db: Db, before: Date, limit: number): Promise<ExpiringFile[]> {
  return await db.selectFrom('kept_file').select(COLUMNS).where('expires_at', '<=', before).orderBy('expires_at').limit(limit).execute()
}

/** Releases its storage, unless a concurrent call has removed it. */
export async function remove(tx: Tx, { id, organizationId, sizeBytes }: ExpiringFile): Promise<void> {
  const result = await tx.deleteFrom('kept_file').where('id', '=', id).executeTakeFirst()
  if (result.numDeletedRows === 1n) await storageAccounts.move(tx, organizationId, -sizeBytes)
}
