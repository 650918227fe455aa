/** A file of an item, really stored and truly counted, as an upload would leave it. */
import { newId } from '#core/ids.ts'
import * as projects from '#model/identity/project.ts'
import type { World } from './world.ts'

interface StoredFile {
  key?: string
  mediaType?: string
  bytes: Uint8Array
  /** Said to be larger than it is, for limits that no test could fill. */
  claimedSize?: number
  bandNames?: string[]
}

export async function storeFile(
  w: Pick<World, 'db' | 'storage' | 'clock'>,
  itemId: string,
  { key = 'data', mediaType = 'image/tiff', bytes, claimedSize, bandNames }: StoredFile,
): Promise<string> {
  const item = await w.db.selectFrom('item').select(['seq', 'org_id', 'project_id']).where('id', '=', itemId).executeTakeFirstOrThrow()
  const { bucket_name } = await w.db.selectFrom('project').select('bucket_name').where('id', '=', item.project_id).executeTakeFirstOrThrow()
  const id = newId()
  const at = { bucket: bucket_name!, key: `assets/${id}.tif` }
  await w.storage.createBucket(at.bucket)
  const { size } = await w.storage.put(at, bytes, { contentType: mediaType })
  const file_size_bytes = claimedSize ?? size
  await w.db.transaction().execute(async (tx) => {
    await tx
      .insertInto('asset')
      .values({
        id,
        org_id: item.org_id,
        item_seq: item.seq,
        key,
        media_type: mediaType,
        roles: ['data'],
        bucket: at.bucket,
        object_key: at.key,
        file_size_bytes,
        band_names: bandNames ?? null,
        created_at: w.clock.now(),
        updated_at: w.clock.now(),
      })
      .execute()
    await projects.account(tx, item.project_id, { bytes: file_size_bytes }, w.clock.now())
  })
  return id
}
