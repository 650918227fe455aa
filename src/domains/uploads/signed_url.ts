import Type from 'typebox'
import { isMediaType } from '#core/file-names.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as uploads from '#model/imagery/upload.ts'
import * as uploadFiles from '#model/imagery/upload-file.ts'
import { operation, type Context } from '#operation.ts'
import { partBytesFor, partRange } from '#ports/storage.ts'
import { LIFETIME_SECONDS, openParts, partCount, reserveFile } from './parts.lib.ts'
import { EXAMPLE_UPLOAD, MAX_BYTES, UploadId } from './wire.ts'

/** Returns a short-lived URL to PUT a file of a session to. Repeated with the same name, it returns a new URL for the same file. */
export default operation({
  id: 'uploads.signed_url',
  scope: 'uploads:write',
  tier: 'compute',
  input: Closed({
    upload_id: Described(UploadId, 'Upload session ID'),
    file_name: Type.String({ minLength: 1, maxLength: 1_024, description: 'File name' }),
    content_type: Defaulted(Type.String(), 'application/octet-stream', {
      maxLength: 200,
      description: 'Media type the file must be sent with',
    }),
    size_bytes: Type.Optional(
      Nullable(
        Type.Integer({
          minimum: 0,
          maximum: MAX_BYTES,
          description: 'File size in bytes. For S3 storage, the response then states which part of the file the URL accepts',
        }),
      ),
    ),
  }),
  output: Closed(
    {
      upload_url: Type.String({ description: 'URL to PUT the bytes to, within 15 minutes' }),
      object_path: Type.String({ description: 'Path of the file in the object store' }),
      part: Type.Optional(
        Closed(
          {
            offset: Type.Integer({ minimum: 0, description: 'First byte to send; all earlier bytes have arrived' }),
            length: Type.Integer({
              minimum: 0,
              description: 'Exact number of bytes to send; 0 when the file is complete',
            }),
          },
          {
            description: 'Present with `size_bytes` for S3 storage: PUT these bytes, then request the next URL until the file is complete',
          },
        ),
      ),
    },
    { description: 'URL to upload the file to' },
  ),
  example: {
    input: { upload_id: EXAMPLE_UPLOAD.id, file_name: EXAMPLE_UPLOAD.files[0]!.name, content_type: 'image/tiff' },
    output: {
      upload_url: 'https://store.example/objects/svc-0199f2c4/uploads/0199f2d1/1/orthophoto.tif?method=PUT&expires=1772359500&signature=…',
      object_path: EXAMPLE_UPLOAD.files[0]!.object_path,
    },
  },
}).handle({
  async check({ db, principal }, { upload_id, content_type }) {
    const { upload, project } = await uploads.requireEditor(db, principal, upload_id)
    uploads.requireOpen(upload)
    projects.requireActive(project)
    if (!isMediaType(content_type)) throw invalidField('content_type', "must be a media type such as 'image/tiff'")
    return upload
  },
  /** For S3: the stored bytes of the session, and where a multipart upload continues. */
  async prepare(context, { file_name, content_type, size_bytes }, { id, bucket }) {
    const { db, storage, signal } = context
    if (storage.kind !== 's3') return { arrivedBytes: 0, part: null }
    if (size_bytes != null) {
      const part = await nextPart(context, { uploadId: id, bucket, name: file_name, contentType: content_type, totalBytes: size_bytes })
      return { arrivedBytes: 0, part }
    }
    let arrivedBytes = 0
    for (const { objectKey } of await uploadFiles.list(db, id))
      arrivedBytes += (await storage.stat({ bucket, key: objectKey }, signal))?.size ?? 0
    return { arrivedBytes, part: null }
  },
  async execute({ tx, clock, storage, attributeTo }, { file_name, content_type }, { id, organizationId, bucket }, { arrivedBytes, part }) {
    attributeTo(organizationId)
    const now = clock.now()
    const session = uploads.requireOpen(await uploads.lock(tx, id))
    // The embedded store reserves storage at each PUT; of S3 we learn the stored bytes only here.
    if (storage.kind === 's3') await uploads.reserveUpTo(tx, session, arrivedBytes)
    const file = await uploadFiles.put(tx, id, { name: file_name, contentType: content_type }, now)
    await uploads.progress(tx, id, null, now)
    // A file can be larger than announced, but must fit into the quota.
    const maxBytes = Math.max(session.reservedBytes, arrivedBytes) + (await storageAccounts.freeBytes(tx, organizationId))
    const at = { bucket, key: file.objectKey }
    if (!part?.url) await uploadFiles.forgetParts(tx, file.id)
    if (part?.url) return { upload_url: part.url, object_path: storage.uriOf(at), part: { offset: part.offset, length: part.length } }
    return {
      upload_url: await storage.signPut({
        ...at,
        contentType: file.contentType,
        maxBytes,
        countFor: file.id,
        expiresInSeconds: LIFETIME_SECONDS,
      }),
      object_path: storage.uriOf(at),
      ...(part ? { part: { offset: part.offset, length: part.length } } : {}),
    }
  },
})

interface NextPart {
  offset: number
  length: number
  /** Null if the file fits into a single part and is uploaded as a whole. */
  url: string | null
}

/** The first part that is missing, or the last if none is. */
async function nextPart(context: Context, wanted: Parameters<typeof reserveFile>[1]): Promise<NextPart> {
  const file = await reserveFile(context, wanted)
  const { totalBytes } = wanted
  if (totalBytes <= partBytesFor(totalBytes)) return { offset: 0, length: totalBytes, url: null }
  const { upload, received } = await openParts(context, file, wanted)
  const gap = received.findIndex(({ number }, index) => number !== index + 1)
  const arrived = gap === -1 ? received.length : gap
  const number = Math.min(partCount(upload), arrived + 1)
  const url = await context.storage.multipart.signPart({ ...upload, number, expiresInSeconds: LIFETIME_SECONDS })
  if (arrived === partCount(upload)) return { offset: totalBytes, length: 0, url }
  return { ...partRange({ ...upload, number }), url }
}
