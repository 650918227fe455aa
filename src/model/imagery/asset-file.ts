/** Files of assets. Copies of an item share their files, so a change to a file applies to all assets that refer to it. */
import { sql } from 'kysely'
import type { Db, Tx } from '#db/tables.ts'
import * as items from './item-read.ts'
import * as projects from '#model/identity/project.ts'

/** An asset of an existing item that refers to an object. */
interface AssetRef {
  id: string
  key: string
  itemSeq: number
  projectId: string
  fileSizeBytes: number
}

/** All assets that refer to an object, except those of deleted items. */
export async function referencesTo(db: Db, { bucket, objectKey }: { bucket: string; objectKey: string }): Promise<AssetRef[]> {
  const { rows } = await sql<AssetRef>`
    select a.id, a.key, a.item_seq as "itemSeq", i.project_id as "projectId", a.file_size_bytes as "fileSizeBytes" from asset a
      join item i on i.seq = a.item_seq
    where a.bucket = ${bucket} and a.object_key = ${objectKey} and i.deleted_at is null order by a.item_seq
  `.execute(db)
  return rows
}

/**
 * All assets that refer to an object, locked with their items and projects until the end of the transaction. Fails if a copy was created
 * while the locks were taken; the caller retries.
 */
export async function lockReferences(
  tx: Tx,
  at: { bucket: string; objectKey: string },
): Promise<{ pointing: AssetRef[]; items: Map<number, items.Item> }> {
  const before = await referencesTo(tx, at)
  await projects.lockAll(
    tx,
    before.map(({ projectId }) => projectId),
  )
  const locked = new Map(
    (
      await items.lockAll(
        tx,
        before.map(({ itemSeq }) => itemSeq),
      )
    ).map((item) => [item.seq, item]),
  )
  const pointing = await referencesTo(tx, at)
  if (pointing.some(({ itemSeq }) => !locked.has(itemSeq))) throw new Error('the file was copied while it was being locked')
  return { pointing, items: locked }
}

/** Removes an asset whose file is unusable, even the last one of its item. The caller has locked project and item. */
export async function discard(tx: Tx, asset: AssetRef, now: Date): Promise<void> {
  await tx.deleteFrom('asset').where('id', '=', asset.id).execute()
  await projects.account(tx, asset.projectId, { bytes: -asset.fileSizeBytes }, now, { evenArchived: true })
}

export interface ReplacingFile {
  bucket: string
  objectKey: string
  fileSizeBytes: number
  sha256: Buffer | null
  mediaType: string
  raster: Record<string, unknown>
}

/** Replaces the file of assets; the new one is ready. The caller has locked their projects and items. */
export async function replaceFile(tx: Tx, assets: readonly AssetRef[], file: ReplacingFile, now: Date): Promise<void> {
  for (const asset of assets) {
    await projects.account(tx, asset.projectId, { bytes: file.fileSizeBytes - asset.fileSizeBytes }, now, { evenArchived: true })
    await tx
      .updateTable('asset')
      .set({
        bucket: file.bucket,
        object_key: file.objectKey,
        file_size_bytes: file.fileSizeBytes,
        sha256: file.sha256,
        media_type: file.mediaType,
        raster: JSON.stringify(file.raster),
        state: 'ready',
        updated_at: now,
      })
      .where('id', '=', asset.id)
      .execute()
  }
}
