import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as uploads from '#model/imagery/upload.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import { clearUploadTask } from '#model/imagery/tasks.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_UPLOAD, toRecord, UploadId, UploadRecord } from './wire.ts'

/** Aborts a session: releases its reserved storage and removes its files. */
export default operation({
  id: 'uploads.fail',
  scope: 'uploads:write',
  tier: 'compute',
  input: Closed({
    upload_id: Described(UploadId, 'Upload session ID'),
    error_message: Type.String({ minLength: 1, maxLength: 2_000, description: 'Why the upload failed' }),
    error_step: Described(Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 100 }))), 'Step at which the upload failed'),
  }),
  output: UploadRecord,
  example: {
    input: { upload_id: EXAMPLE_UPLOAD.id, error_message: 'The disk with the file was unplugged', error_step: 'upload' },
    output: {
      ...EXAMPLE_UPLOAD,
      status: 'failed',
      item_ids: [],
      files: [],
      error_step: 'upload',
      error_message: 'The disk with the file was unplugged',
      completed_at: null,
    },
  },
}).handle({
  async check({ db, principal }, { upload_id }) {
    const { upload } = await uploads.requireEditor(db, principal, upload_id)
    if (upload.state === 'completed') throw problem('bad-request', 'This upload session is completed; delete its items instead')
    return upload
  },
  async execute({ tx, clock, storage, tasks, attributeTo }, { error_message, error_step }, { id, organizationId }) {
    attributeTo(organizationId)
    const hasEnded = await uploads.fail(tx, id, { step: error_step ?? null, message: error_message }, clock.now())
    const current = await uploads.get(tx, id)
    if (current.state === 'completed')
      throw problem('bad-request', 'This upload session was completed concurrently; delete its items instead')
    if (hasEnded) await tasks.enqueue(clearUploadTask, { upload_id: id })
    return toRecord(current, await uploadFiles.list(tx, id), (at) => storage.uriOf(at))
  },
})
