/** Items whose pixels lie in the platform's own store: what an upload leaves behind, without the upload. */
import { newId } from '#core/ids.ts'
import * as projects from '#model/identity/project.ts'
import type { Org, World } from './world.ts'

interface RasterFile {
  key?: string
  bytes: Uint8Array
  bandNames?: readonly string[]
  roles?: readonly string[]
  mediaType?: string
}

/** Makes an item through the interface, then puts files of ours where its assets point elsewhere. */
export async function rasterItem(w: World, org: Org, files: readonly RasterFile[], more: object = {}): Promise<string> {
  const assets = files.map(
    ({ key = 'data', mediaType = 'image/tiff; application=geotiff; profile=cloud-optimized', roles = ['data'] }) => ({
      key,
      href: 'https://data.example/later.tif',
      media_type: mediaType,
      roles,
    }),
  )
  const { id } = await w.ok(org.owner.token, 'items.create', {
    project_id: org.projectId,
    type: 'user_raster',
    name: 'Layer',
    ...more,
    assets,
  })
  const { seq } = await w.db.selectFrom('item').select('seq').where('id', '=', id).where('org_id', '=', org.id).executeTakeFirstOrThrow()
  const room = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
  await w.db.transaction().execute((tx) => projects.account(tx, org.projectId, { bytes: room }, w.clock.now()))
  for (const { key = 'data', bytes, bandNames } of files) {
    const object = { bucket: `svc-${org.projectId}`, key: `${newId()}.tif` }
    await w.storage.put(object, bytes, { contentType: 'image/tiff' })
    await w.db
      .updateTable('asset')
      .set({
        href: null,
        bucket: object.bucket,
        object_key: object.key,
        file_size_bytes: bytes.length,
        band_names: bandNames ? [...bandNames] : null,
      })
      .where('item_seq', '=', seq)
      .where('key', '=', key)
      .execute()
  }
  return id
}
