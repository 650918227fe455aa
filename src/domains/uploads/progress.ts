import Type from 'typebox'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import * as upload from '#model/imagery/upload.ts'
import * as uploadFile from '#model/imagery/upload-file.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_UPLOAD, MAX_BYTES, toRecord, UploadId, UploadRecord } from './wire.ts'

/** Reports how much has been uploaded; with `upload_id` alone it only tells, of the session and of the conversion of its files. */
export default operation({
  id: 'uploads.progress',
  scope: 'uploads:write',
  tier: 'compute',
  input: Closed({
    upload_id: UploadId,
    status: Type.Optional(Nullable(Choice(['uploading', 'uploaded']))),
    bytes_uploaded: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: MAX_BYTES }))),
  }),
  output: UploadRecord,
  example: { input: { upload_id: EXAMPLE_UPLOAD.id }, output: EXAMPLE_UPLOAD },
}).handle({
  async check({ db, principal }, { upload_id }) {
    return (await upload.requireEditor(db, principal, upload_id)).upload
  },
  async execute({ tx, clock, storage, attributeTo }, { status, bytes_uploaded }, { id, organizationId }) {
    attributeTo(organizationId)
    const isReport = status != null || bytes_uploaded != null
    const current = isReport ? await upload.progress(tx, id, bytes_uploaded ?? null, clock.now()) : await upload.get(tx, id)
    return toRecord(current, await uploadFile.list(tx, id), (at) => storage.address(at))
  },
})
