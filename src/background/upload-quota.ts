/** Reserves storage for an upload to the embedded store before its first byte is accepted. */
import type { Clock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import type { UploadQuota } from '#ports/storage.ts'

export function createUploadQuota(db: Db, clock: Clock): UploadQuota {
  return {
    reserve: (uploadFileId, bytes) => db.transaction().execute((tx) => uploadFiles.reserveBytes(tx, uploadFileId, bytes, clock.now())),
  }
}
