/**
 * Files that the service keeps for a while for whoever asked for them: reports, and rasters that analytics computed. They count as
 * storage of their organization as long as they are there.
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
  // How a raster is drawn; null for documents.
  'look',
  'expires_at as expiresAt',
] as const

type KeptFile = Row<'kept_file', typeof COLUMNS>

/** How tiles of a raster are drawn, and who may see them: whoever may read all projects that it was computed from. */
export interface Look {
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
  look: Look | null
  expiresAt: Date
}

/** 402 where it does not fit. */
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
      look: file.look && JSON.stringify(file.look),
      created_at: now,
      expires_at: file.expiresAt,
    })
    .execute()
  await storageAccounts.move(tx, file.organizationId, file.sizeBytes)
}

const RESULT = 'result, or it has expired'

/** A raster that can still be drawn. 404 for one that expired and for one of projects that do not exist for the caller. */
export async function requireRaster(db: Db, principal: Principal, id: string, now: Date): Promise<KeptFile & { look: Look }> {
  const file = await db.selectFrom('kept_file').select(COLUMNS).where('id', '=', id).where('expires_at', '>', now).executeTakeFirst()
  if (!file?.look) throw notFound(RESULT)
  const { projectIds } = file.look
  for (const projectId of projectIds) await projects.unlessHidden(RESULT, () => projects.requireReader(db, principal, projectId))
  return { ...file, look: file.look }
}

/** Those that expired before a time, oldest first. */
export async function expired(db: Db, before: Date, limit: number): Promise<KeptFile[]> {
  return await db.selectFrom('kept_file').select(COLUMNS).where('expires_at', '<=', before).orderBy('expires_at').limit(limit).execute()
}

/** Gives its room back; whoever finds it gone leaves the account alone. */
export async function remove(tx: Tx, { id, organizationId, sizeBytes }: KeptFile): Promise<void> {
  const done = await tx.deleteFrom('kept_file').where('id', '=', id).executeTakeFirst()
  if (done.numDeletedRows === 1n) await storageAccounts.move(tx, organizationId, -sizeBytes)
}
