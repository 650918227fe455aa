import Type from 'typebox'
import { invalidField, problem } from '#core/problem.ts'
import { Choice, Closed, Defaulted, Described, Matching, Nullable, Uuid } from '#core/shapes.ts'
import * as assets from '#model/imagery/asset.ts'
import * as collections from '#model/imagery/collection.ts'
import * as items from '#model/imagery/item-read.ts'
import * as projects from '#model/identity/project.ts'
import * as uploads from '#model/imagery/upload.ts'
import { MAX_FILES_PER_SESSION } from '#model/imagery/upload-file.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_UPLOAD, MAX_BYTES } from './wire.ts'

const Id = Type.String({ minLength: 1, maxLength: items.MAX_ID_LENGTH })

/** Opens an upload session and reserves its announced bytes from the storage quota. */
export default operation({
  id: 'uploads.initiate',
  scope: 'uploads:write',
  tier: 'compute',
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    transfer_method: Defaulted(Choice(['signed_url', 'browser']), 'browser', {
      description: 'Transfer method; files are PUT to a signed URL in both cases',
    }),
    file_count: Defaulted(Type.Integer({ minimum: 1, maximum: MAX_FILES_PER_SESSION }), 1, { description: 'Number of files to upload' }),
    total_bytes: Defaulted(Type.Integer({ minimum: 0, maximum: MAX_BYTES }), 0, {
      description: 'Total size of the files in bytes; reserved from the storage quota',
    }),
    target_collection_id: Described(Type.Optional(Nullable(Id)), 'ID of the collection to add the items to'),
    target_item_id: Described(Type.Optional(Nullable(Id)), 'ID of the item to add the files to'),
    asset_key: Described(
      Type.Optional(
        Nullable(
          Matching('^[A-Za-z0-9._-]+$', 'must contain only letters, digits, dots, dashes and underscores', {
            minLength: 1,
            maxLength: 200,
          }),
        ),
      ),
      'Asset key',
    ),
    is_categorical: Defaulted(Type.Boolean(), false, {
      description: 'Whether pixel values are class codes, which are never rescaled or interpolated',
    }),
  }),
  output: Closed({ id: Described(Uuid, 'Upload session ID') }, { description: 'The new upload session' }),
  example: {
    input: { project_id: EXAMPLE_UPLOAD.project_id, transfer_method: 'signed_url', file_count: 1, total_bytes: EXAMPLE_UPLOAD.total_bytes },
    output: { id: EXAMPLE_UPLOAD.id },
  },
}).handle({
  async check({ db, principal }, input) {
    const project = projects.requireActive(await projects.requireRole(db, principal, input.project_id, 'editor'))
    if (!project.bucketName) throw problem('bad-request', 'This project has no storage bucket, so nothing can be uploaded to it')
    if (input.target_item_id != null && input.target_collection_id != null)
      throw invalidField('target_collection_id', 'cannot be combined with target_item_id; an item stays in its collection')
    if (input.target_collection_id != null) await collections.requireIn(db, project.id, input.target_collection_id)
    if (input.target_item_id == null) return { project, bucket: project.bucketName }
    const target = await items.requireEditor(db, principal, input.target_item_id)
    if (target.item.projectId !== project.id) throw invalidField('target_item_id', 'must be an item of this project')
    const isTaken = input.asset_key != null && (await assets.list(db, target.item.seq)).some(({ key }) => key === input.asset_key)
    if (isTaken)
      throw problem(
        'bad-request',
        `The item already has an asset '${input.asset_key}'; choose another asset_key or delete that asset first`,
      )
    return { project, bucket: project.bucketName }
  },
  async execute({ tx, principal, clock, attributeTo }, input, { project, bucket }) {
    attributeTo(project.organizationId)
    await projects.lock(tx, project.id)
    const { id } = await uploads.insert(tx, {
      organizationId: project.organizationId,
      projectId: project.id,
      bucket,
      fileCount: input.file_count,
      totalBytes: input.total_bytes,
      targetCollectionId: input.target_collection_id ?? null,
      targetItemId: input.target_item_id ?? null,
      assetKey: input.asset_key ?? null,
      isCategorical: input.is_categorical,
      createdBy: principal.userId,
      now: clock.now(),
    })
    return { id }
  },
})
