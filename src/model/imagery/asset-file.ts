/** The files behind assets. Copies of an item share theirs, so what happens to a file happens to all assets that point at it. */
import { sql } from 'kysely'
import type { Db, Tx } from '#db/tables.ts'
import * as item from './item-read.ts'
import * as projects from '#model/identity/project.ts'

/** An asset of a live item that points at an object. */
interface Pointing {
  id: string
  key: string
  itemSeq: number
  projectId: string
  fileSizeBytes: number
}

/** Everything that points at an object: copies of an item share its files. Deleted items count for nothing. */
export async function pointingAt(db: Db, { bucket, objectKey }: { bucket: string; objectKey: string }): Promise<Pointing[]> {
  const { rows } = await sql<Pointing>`
    select a.id, a.key, a.item_seq as "itemSeq", i.project_id as "projectId", a.file_size_bytes as "fileSizeBytes" from asset a
      join item i on i.seq = a.item_seq
    where a.bucket = ${bucket} and a.object_key = ${objectKey} and i.deleted_at is null order by a.item_seq
  `.execute(db)
  return rows
}

/**
 * Everything that points at an object, held with its items and projects until the end of the transaction. A copy that was
 * made while we waited for the locks is an error: the caller tries again.
 */
export async function holdPointing(
  tx: Tx,
  at: { bucket: string; objectKey: string },
): Promise<{ pointing: Pointing[]; items: Map<number, item.Item> }> {
  const before = await pointingAt(tx, at)
  await projects.holdAll(
    tx,
    before.map(({ projectId }) => projectId),
  )
  const items = new Map(
    (
      await item.lockAll(
        tx,
        before.map(({ itemSeq }) => itemSeq),
      )
    ).map((held) => [held.seq, held]),
  )
  const pointing = await pointingAt(tx, at)
  if (pointing.some(({ itemSeq }) => !items.has(itemSeq))) throw new Error('the file was copied while it was being taken')
  return { pointing, items }
}

/** Removes an asset whose file is worth nothing, also the last one of its item. The caller holds project and item. */
export async function discard(tx: Tx, asset: Pointing, now: Date): Promise<void> {
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

/** Gives assets another file, which is ready. The caller holds their projects and items. */
export async function replaceFile(tx: Tx, assets: readonly Pointing[], file: ReplacingFile, now: Date): Promise<void> {
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
