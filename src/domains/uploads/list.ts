import Type from 'typebox'
import { Choice, Closed, Described, Limit, Nullable, Offset, Uuid } from '#core/shapes.ts'
import { UPLOAD_STATES } from '#core/vocabulary.ts'
import * as projects from '#model/identity/project.ts'
import * as uploads from '#model/imagery/upload.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_UPLOAD, toRecord, UploadRecord } from './wire.ts'

/** Lists the upload sessions of a project with their files, including ended ones, newest first. */
export default operation({
  id: 'uploads.list',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    status: Type.Optional(Nullable(Choice(UPLOAD_STATES, { description: 'Only sessions with this status' }))),
    limit: Limit(20, 100),
    offset: Offset,
  }),
  output: Closed({
    uploads: Type.Array(UploadRecord, { description: 'Upload sessions, newest first' }),
    count: Type.Integer({ description: 'Number of results returned' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: { project_id: EXAMPLE_UPLOAD.project_id }, output: { uploads: [EXAMPLE_UPLOAD], count: 1, total: 1 } },
}).handle({
  check: async ({ db, principal }, { project_id }) => await projects.requireReader(db, principal, project_id),
  async execute({ db, storage }, { status, limit, offset }, { id }) {
    const { uploads: page, total } = await uploads.list(db, { projectId: id, state: status ?? null, limit, offset })
    const filesByUpload = await uploadFiles.listMany(
      db,
      page.map(({ id: uploadId }) => uploadId),
    )
    return {
      uploads: page.map((upload) => toRecord(upload, filesByUpload.get(upload.id) ?? [], (at) => storage.uriOf(at))),
      count: page.length,
      total,
    }
  },
})
