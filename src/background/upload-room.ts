/** Room for what is sent to the embedded store, taken before a byte of it is. */
import type { Clock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import * as uploadFile from '#model/imagery/upload-file.ts'
import type { UploadRoom } from '#ports/storage.ts'

export function createUploadRoom(db: Db, clock: Clock): UploadRoom {
  return {
    reserve: (uploadFileId, bytes) => db.transaction().execute((tx) => uploadFile.takeRoom(tx, uploadFileId, bytes, clock.now())),
  }
}
