import Type from 'typebox'
import { isMediaType } from '#core/file-names.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, Defaulted } from '#core/shapes.ts'
import * as project from '#model/identity/project.ts'
import * as storageAccount from '#model/plans/storage-account.ts'
import * as upload from '#model/imagery/upload.ts'
import * as uploadFile from '#model/imagery/upload-file.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_UPLOAD, UploadId } from './wire.ts'

const LIFETIME_SECONDS = 900

/** A short-lived address to PUT one file of a session to. Asked again with the same name, it gives another one for the same file. */
export default operation({
  id: 'uploads.signed_url',
  scope: 'uploads:write',
  tier: 'compute',
  input: Closed({
    upload_id: UploadId,
    file_name: Type.String({ minLength: 1, maxLength: 1_024 }),
    content_type: Defaulted(Type.String(), 'application/octet-stream', {
      maxLength: 200,
      description: 'The PUT must carry exactly this Content-Type',
    }),
  }),
  output: Closed({ upload_url: Type.String(), object_path: Type.String() }),
  example: {
    input: { upload_id: EXAMPLE_UPLOAD.id, file_name: EXAMPLE_UPLOAD.files[0]!.name, content_type: 'image/tiff' },
    output: {
      upload_url: 'https://store.example/objects/svc-0199f2c4/uploads/0199f2d1/1/orthophoto.tif?method=PUT&expires=1772359500&signature=…',
      object_path: EXAMPLE_UPLOAD.files[0]!.object_path,
    },
  },
}).handle({
  async check({ db, principal }, { upload_id, content_type }) {
    const found = await upload.requireEditor(db, principal, upload_id)
    upload.requireOpen(found.upload)
    project.requireActive(found.project)
    if (!isMediaType(content_type)) throw invalidField('content_type', "must be a media type, such as 'image/tiff'")
    return found.upload
  },
  /** What the session has stored so far, where only the store itself knows. */
  async prepare({ db, storage, signal }, _input, { id, bucket }) {
    if (storage.kind !== 's3') return 0
    let bytes = 0
    for (const { objectKey } of await uploadFile.list(db, id)) bytes += (await storage.stat({ bucket, key: objectKey }, signal))?.size ?? 0
    return bytes
  },
  async execute({ tx, clock, storage, attributeTo }, { file_name, content_type }, { id, organizationId, bucket }, arrivedBytes) {
    attributeTo(organizationId)
    const now = clock.now()
    const session = upload.requireOpen(await upload.lock(tx, id))
    // The embedded store asks for room at each PUT. Of another we learn what came when we look.
    if (storage.kind === 's3') await upload.reserveUpTo(tx, session, arrivedBytes)
    const file = await uploadFile.put(tx, id, { name: file_name, contentType: content_type }, now)
    await upload.progress(tx, id, null, now)
    // A file may be larger than was announced, but not than what there is room for.
    const maxBytes = Math.max(session.reservedBytes, arrivedBytes) + (await storageAccount.room(tx, organizationId))
    const at = { bucket, key: file.objectKey }
    return {
      upload_url: await storage.signPut({
        ...at,
        contentType: file.contentType,
        maxBytes,
        countFor: file.id,
        expiresInSeconds: LIFETIME_SECONDS,
      }),
      object_path: storage.address(at),
    }
  },
})
