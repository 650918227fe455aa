import Type from 'typebox'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { UPLOAD_FILE_STATES, UPLOAD_STATES } from '#core/vocabulary.ts'
import { expiresAt, type Upload } from '#model/imagery/upload.ts'
import type { UploadFile } from '#model/imagery/upload-file.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

export const UploadId = Type.String({ minLength: 1, maxLength: 100 })
/** Upper limit for files and sessions, beyond any store's limit. */
export const MAX_BYTES = 2 ** 50

const FileRecord = Closed(
  {
    name: Type.String({ description: 'File name' }),
    object_path: Type.String({ description: 'Path of the file in the object store' }),
    content_type: Type.String({ description: 'Media type the upload must be sent with' }),
    size_bytes: Described(Nullable(Type.Integer()), 'File size in bytes; null if unknown'),
    state: Choice(UPLOAD_FILE_STATES, {
      description:
        '`awaiting`: not uploaded yet; `refused`: not a supported raster, or it needs a position (step `position`); ' +
        '`converting`: being converted to a COG; `ready`: the item can be displayed; `failed`: conversion failed',
    }),
    step: Type.String({
      description:
        'Current step, or the step that failed: `upload`, `check`, `position`, `queued`, `convert`, `store`, `describe` or `done`',
    }),
    fraction: Nullable(Type.Number({ description: 'Progress of the conversion, 0 to 1; null if not converting' })),
    error: Described(Nullable(Type.String()), 'Why the file failed; null if it has not'),
    item_id: Described(Nullable(Type.String()), 'Item ID; null until the item is created'),
    asset_id: Described(Nullable(Uuid), 'Asset ID; null until the item is created'),
  },
  { $id: 'UploadFile', description: 'A file of an upload session' },
)

export const UploadRecord = Closed(
  {
    id: Described(Uuid, 'Upload session ID'),
    project_id: Described(Uuid, 'Project ID'),
    status: Choice(UPLOAD_STATES, { description: 'Status of the session' }),
    file_count: Type.Integer({ description: 'Number of files in the session' }),
    total_bytes: Type.Integer({ description: 'Total size of the files in bytes' }),
    bytes_uploaded: Type.Integer({ description: 'Bytes uploaded so far' }),
    reserved_bytes: Type.Integer({ description: 'Bytes reserved from the storage quota; 0 once the session has ended' }),
    target_collection_id: Described(Nullable(Uuid), 'ID of the collection the items are added to; null if none'),
    target_item_id: Described(Nullable(Type.String()), 'ID of the item the files are added to; null for new items'),
    asset_key: Described(Nullable(Type.String()), 'Asset key; null for the default'),
    is_categorical: Type.Boolean({ description: 'Whether pixel values are class codes, which are never rescaled or interpolated' }),
    item_ids: Type.Array(Type.String(), { description: 'IDs of the created items' }),
    error_step: Described(Nullable(Type.String()), 'Step at which the upload failed; null if it has not'),
    error_message: Described(Nullable(Type.String()), 'Why the upload failed; null if it has not'),
    files: Type.Array(FileRecord, { description: 'Files of the session' }),
    created_at: Described(Timestamp, 'Creation time'),
    updated_at: Described(Timestamp, 'Time of the last change'),
    expires_at: Described(Nullable(Timestamp), 'Time the session expires; null once it has ended'),
    completed_at: Described(Nullable(Timestamp), 'Completion time; null until completed'),
  },
  { $id: 'Upload', description: 'An upload session' },
)

/** `addressOf` returns an object's path in the configured store. */
export function toRecord(upload: Upload, files: readonly UploadFile[], addressOf: (at: { bucket: string; key: string }) => string) {
  return {
    id: upload.id,
    project_id: upload.projectId,
    status: upload.state,
    file_count: upload.fileCount,
    total_bytes: upload.totalBytes,
    bytes_uploaded: upload.bytesUploaded,
    reserved_bytes: upload.reservedBytes,
    target_collection_id: upload.targetCollectionId,
    target_item_id: upload.targetItemId,
    asset_key: upload.assetKey,
    is_categorical: upload.isCategorical,
    item_ids: upload.itemIds,
    error_step: upload.errorStep,
    error_message: upload.errorMessage,
    files: files.map((file) => ({
      name: file.name,
      object_path: addressOf({ bucket: upload.bucket, key: file.objectKey }),
      content_type: file.contentType,
      size_bytes: file.sizeBytes,
      state: file.state,
      step: file.step,
      fraction: file.fraction,
      error: file.error,
      item_id: file.itemId,
      asset_id: file.assetId,
    })),
    created_at: upload.createdAt.toISOString(),
    updated_at: upload.updatedAt.toISOString(),
    expires_at: expiresAt(upload)?.toISOString() ?? null,
    completed_at: upload.state === 'completed' ? upload.closedAt!.toISOString() : null,
  }
}

/** For the reference. */
export const EXAMPLE_UPLOAD = {
  id: '0199f2d1-4444-7abc-8def-0123456789ab',
  project_id: EXAMPLE_IDS.project,
  status: 'completed' as const,
  file_count: 1,
  total_bytes: 2_147_484_000,
  bytes_uploaded: 2_147_484_000,
  reserved_bytes: 0,
  target_collection_id: null,
  target_item_id: null,
  asset_key: null,
  is_categorical: false,
  item_ids: ['0199f2d1-6666-7abc-8def-0123456789ab'],
  error_step: null,
  error_message: null,
  files: [
    {
      name: 'orthophoto.tif',
      object_path: 'store://svc-0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10/uploads/0199f2d1-4444-7abc-8def-0123456789ab/1/orthophoto.tif',
      content_type: 'image/tiff',
      size_bytes: 2_147_484_000,
      state: 'converting' as const,
      step: 'convert',
      fraction: 0.42,
      error: null,
      item_id: '0199f2d1-6666-7abc-8def-0123456789ab',
      asset_id: '0199f2d1-7777-7abc-8def-0123456789ab',
    },
  ],
  created_at: '2026-03-01T09:45:00.000Z',
  updated_at: '2026-03-01T09:52:00.000Z',
  expires_at: null,
  completed_at: '2026-03-01T09:52:00.000Z',
}
