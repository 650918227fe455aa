/** The multipart upload of a file, begun by whichever request comes first. */
import { invalidField, problem } from '#core/problem.ts'
import * as uploads from '#model/imagery/upload.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import type { Context } from '#operation.ts'
import { MAX_OBJECT_BYTES, partBytesFor, partRange, type MultipartUpload, type ReceivedPart } from '#ports/storage.ts'
import { newKey } from '#services/ingest/intake.ts'

/** Of every signed URL for an upload. */
export const LIFETIME_SECONDS = 900

interface FileInParts {
  uploadId: string
  bucket: string
  name: string
  contentType: string
  totalBytes: number
}

interface OpenParts {
  upload: MultipartUpload
  received: ReceivedPart[]
}

/** Reserves storage for the whole file, before any of its bytes can arrive. */
export async function reserveFile({ db, clock }: Pick<Context, 'db' | 'clock'>, file: FileInParts): Promise<uploadFiles.UploadFile> {
  if (file.totalBytes > MAX_OBJECT_BYTES) throw invalidField('size_bytes', 'must be at most 5497558138880 (5 TiB), the limit of S3')
  const now = clock.now()
  return await db.transaction().execute(async (tx) => {
    uploads.requireOpen(await uploads.lock(tx, file.uploadId))
    const row = await uploadFiles.put(tx, file.uploadId, { name: file.name, contentType: file.contentType }, now)
    await uploadFiles.reserveBytes(tx, row.id, file.totalBytes, now)
    return row
  })
}

/** Continues the upload of this file, or begins it. A file whose size changed begins again. */
export async function openParts(
  { db, storage, clock, signal }: Pick<Context, 'db' | 'storage' | 'clock' | 'signal'>,
  file: uploadFiles.UploadFile,
  { bucket, totalBytes }: Pick<FileInParts, 'bucket' | 'totalBytes'>,
): Promise<OpenParts> {
  const { multipart } = storage
  const former = uploadFiles.partsOf(file, bucket)
  const received = former?.totalBytes === totalBytes ? await multipart.parts(former, signal) : null
  if (former && received) return { upload: former, received }
  if (former) await multipart.abort(former)
  const at = { bucket, key: newKey(file.name) }
  const { id, hasMd5 } = await multipart.create(at, file.contentType)
  const upload = { ...at, id, partBytes: partBytesFor(totalBytes), totalBytes, hasMd5, contentType: file.contentType }
  if (await uploadFiles.beginParts(db, file, upload, clock.now())) return { upload, received: [] }
  await multipart.abort(upload)
  throw problem('upload-offset', `Two requests started the upload of ${file.name} concurrently; retry this one`)
}

export const partCount = ({ totalBytes, partBytes }: MultipartUpload): number => Math.ceil(totalBytes / partBytes)

export const receivedBytes = (upload: MultipartUpload, received: readonly ReceivedPart[]): number =>
  received.reduce((sum, { number }) => sum + partRange({ ...upload, number }).length, 0)
