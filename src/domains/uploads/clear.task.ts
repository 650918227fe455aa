import { clearUploadTask } from '#model/imagery/tasks.ts'
import { task } from '#task.ts'
import * as uploads from '#model/imagery/upload.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'

/** Removes the uploaded objects of an ended session. The sweep removes what arrives later. */
export default task({ ...clearUploadTask }).handle(async ({ db, storage }, { upload_id }) => {
  const { bucket, closedAt } = await uploads.get(db, upload_id)
  if (!closedAt) return
  for (const file of await uploadFiles.list(db, upload_id)) {
    const parts = uploadFiles.partsOf(file, bucket)
    if (parts) await storage.multipart.abort(parts)
    // The object of an upload in parts becomes the asset's file, unless the session failed.
    if (file.partsKey !== null && file.assetId === null) await storage.remove({ bucket, key: file.partsKey })
    await storage.remove({ bucket, key: file.objectKey })
  }
})
