import Type from 'typebox'
import { Choice, Closed, Described, Nullable } from '#core/shapes.ts'
import * as uploads from '#model/imagery/upload.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import { operation } from '#operation.ts'
import { receivedBytes } from './parts.lib.ts'
import { EXAMPLE_UPLOAD, MAX_BYTES, toRecord, UploadId, UploadRecord } from './wire.ts'

const FILE_CONCURRENCY = 8

/** Reports upload progress. With `upload_id` alone, only returns the progress of the session and the conversion of its files. */
export default operation({
  id: 'uploads.progress',
  scope: 'uploads:write',
  tier: 'compute',
  input: Closed({
    upload_id: Described(UploadId, 'Upload session ID'),
    status: Described(Type.Optional(Nullable(Choice(['uploading', 'uploaded']))), 'New status of the session'),
    bytes_uploaded: Described(
      Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: MAX_BYTES }))),
      'Bytes uploaded so far, as reported by the client',
    ),
  }),
  output: UploadRecord,
  example: { input: { upload_id: EXAMPLE_UPLOAD.id }, output: EXAMPLE_UPLOAD },
}).handle({
  async check({ db, principal }, { upload_id }) {
    return (await uploads.requireEditor(db, principal, upload_id)).upload
  },
  /** Reads the sizes in the store, so that progress advances even if the client does not report it. */
  async prepare({ db, storage, signal }, _input, { id, bucket, closedAt }): Promise<number> {
    if (closedAt) return 0
    const files = (await uploadFiles.list(db, id)).filter(({ state }) => state === 'awaiting')
    const bytesOf = async (file: uploadFiles.UploadFile): Promise<number> => {
      const parts = uploadFiles.partsOf(file, bucket)
      const received = parts && (await storage.multipart.parts(parts, signal))
      if (received) return receivedBytes(parts!, received)
      return (await storage.stat({ bucket, key: file.partsKey ?? file.objectKey }, signal))?.size ?? 0
    }
    let bytes = 0
    for (let first = 0; first < files.length; first += FILE_CONCURRENCY) {
      const sizes = await Promise.all(files.slice(first, first + FILE_CONCURRENCY).map(bytesOf))
      bytes += sizes.reduce((sum, size) => sum + size, 0)
    }
    return bytes
  },
  async execute({ tx, clock, storage, attributeTo }, { status, bytes_uploaded }, { id, organizationId }, stored) {
    attributeTo(organizationId)
    const isReport = status != null || bytes_uploaded != null
    const current = isReport
      ? await uploads.progress(tx, id, Math.max(bytes_uploaded ?? 0, stored), clock.now())
      : await uploads.noteBytes(tx, id, stored)
    return toRecord(current, await uploadFiles.list(tx, id), (at) => storage.uriOf(at))
  },
})
