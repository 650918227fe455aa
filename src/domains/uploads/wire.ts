import Type from 'typebox'
import { Choice, Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { UPLOAD_FILE_STATES, UPLOAD_STATES } from '#core/vocabulary.ts'
import { expiresAt, type Upload } from '#model/imagery/upload.ts'
import type { UploadFile } from '#model/imagery/upload-file.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

export const UploadId = Type.String({ minLength: 1, maxLength: 100 })
/** Of files and sessions together: more than any store takes. */
export const MAX_BYTES = 2 ** 50

const FileRecord = Closed(
  {
    name: Type.String(),
    object_path: Type.String(),
    content_type: Type.String(),
    size_bytes: Nullable(Type.Integer()),
    state: Choice(UPLOAD_FILE_STATES, {
      description:
        'awaiting: its bytes are expected; refused: it is no raster that we read, or with the step `position` it needs a position; ' +
        'converting: it is being rewritten; ' +
        'ready: its item can be shown; failed: its conversion failed',
    }),
    step: Type.String({
      description: 'upload, check, position, queued, convert, store, describe or done: where it is, or where it failed',
    }),
    fraction: Nullable(Type.Number({ description: 'Of the conversion, from 0 to 1' })),
    error: Nullable(Type.String()),
    item_id: Nullable(Type.String()),
    asset_id: Nullable(Uuid),
  },
  { $id: 'UploadFile' },
)

export const UploadRecord = Closed(
  {
    id: Uuid,
    project_id: Uuid,
    status: Choice(UPLOAD_STATES),
    file_count: Type.Integer(),
    total_bytes: Type.Integer(),
    bytes_uploaded: Type.Integer(),
    reserved_bytes: Type.Integer(),
    target_collection_id: Nullable(Uuid),
    target_item_id: Nullable(Type.String()),
    asset_key: Nullable(Type.String()),
    is_categorical: Type.Boolean(),
    item_ids: Type.Array(Type.String()),
    error_step: Nullable(Type.String()),
    error_message: Nullable(Type.String()),
    files: Type.Array(FileRecord),
    created_at: Timestamp,
    updated_at: Timestamp,
    expires_at: Nullable(Timestamp),
    completed_at: Nullable(Timestamp),
  },
  { $id: 'Upload' },
)

/** `addressOf` tells an object's path in the configured store. */
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
