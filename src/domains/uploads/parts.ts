import Type from 'typebox'
import { isMediaType } from '#core/file-names.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as uploads from '#model/imagery/upload.ts'
import { operation } from '#operation.ts'
import { MAX_OBJECT_BYTES, MAX_PARTS, partRange, type MultipartUpload, type ReceivedPart } from '#ports/storage.ts'
import { LIFETIME_SECONDS, openParts, partCount, receivedBytes, reserveFile } from './parts.lib.ts'
import { EXAMPLE_UPLOAD, UploadId } from './wire.ts'

const MAX_PAGE = 500
/** Of the received parts that one response lists. */
const MAX_RECEIVED = 1_000

const PartNumber = Type.Integer({ minimum: 1, maximum: MAX_PARTS })

/**
 * Uploads a large file in parts: returns signed URLs for the parts that have not arrived, a page at a time. Parts can be sent in any
 * order and at the same time. After an interruption, the same call returns what is missing.
 */
export default operation({
  id: 'uploads.parts',
  scope: 'uploads:write',
  tier: 'compute',
  input: Closed({
    upload_id: Described(UploadId, 'Upload session ID'),
    file_name: Type.String({ minLength: 1, maxLength: 1_024, description: 'File name' }),
    content_type: Defaulted(Type.String(), 'application/octet-stream', {
      maxLength: 200,
      description: 'Media type the file must be sent with',
    }),
    size_bytes: Type.Integer({
      minimum: 1,
      maximum: MAX_OBJECT_BYTES,
      description: 'File size in bytes, at most 5 TiB; a file of another size begins again',
    }),
    after: Defaulted(Type.Integer({ minimum: 0, maximum: MAX_PARTS }), 0, {
      description: 'Part number after which the page begins; `next` of the previous page',
    }),
    limit: Defaulted(Type.Integer({ minimum: 1, maximum: MAX_PAGE }), 100, { description: 'Maximum number of URLs' }),
    numbers: Described(
      Type.Optional(Nullable(Type.Array(PartNumber, { minItems: 1, maxItems: MAX_PAGE }))),
      'Sign exactly these parts, for example to replace parts that have arrived; `after` and `limit` are then ignored',
    ),
  }),
  output: Closed(
    {
      object_path: Type.String({ description: 'Path of the file in the object store' }),
      part_bytes: Type.Integer({ description: 'Size of every part except the last' }),
      part_count: Type.Integer({ description: 'Number of parts of the file' }),
      received_bytes: Type.Integer({ description: 'Bytes of all parts that have arrived' }),
      received: Type.Array(
        Closed({
          number: Described(PartNumber, 'Part number'),
          md5: Described(Nullable(Type.String()), 'MD5 of the part in hexadecimal; null if the object store does not know it'),
        }),
        { description: 'Parts of this page that have arrived' },
      ),
      parts: Type.Array(
        Closed({
          number: Described(PartNumber, 'Part number'),
          offset: Type.Integer({ minimum: 0, description: 'First byte of the part in the file' }),
          length: Type.Integer({ minimum: 1, description: 'Exact number of bytes to send' }),
          upload_url: Type.String({
            description: 'URL to PUT the part to, within 15 minutes; with a `Content-MD5` header, the object store compares it',
          }),
        }),
        { description: 'Parts of this page to send' },
      ),
      next: Described(Nullable(Type.Integer()), '`after` of the next page; null on the last page'),
    },
    { description: 'Signed URLs for the missing parts of a file' },
  ),
  example: {
    input: { upload_id: EXAMPLE_UPLOAD.id, file_name: 'orthophoto.tif', content_type: 'image/tiff', size_bytes: 33_554_433, limit: 1 },
    output: {
      object_path: 'store://svc-0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10/assets/0199f2d1-5555-7abc-8def-0123456789ab/orthophoto.tif',
      part_bytes: 16_777_216,
      part_count: 3,
      received_bytes: 16_777_216,
      received: [{ number: 1, md5: '2c7ab85a893283e98c931e9511add182' }],
      parts: [
        {
          number: 2,
          offset: 16_777_216,
          length: 16_777_216,
          upload_url: 'https://store.example/objects/svc-0199f2c4/assets/0199f2d1/orthophoto.tif?method=PUT&expires=1772359500&part=…',
        },
      ],
      next: 2,
    },
  },
}).handle({
  async check({ db, principal }, { upload_id, content_type, numbers }) {
    const { upload, project } = await uploads.requireEditor(db, principal, upload_id)
    uploads.requireOpen(upload)
    projects.requireActive(project)
    if (!isMediaType(content_type)) throw invalidField('content_type', "must be a media type such as 'image/tiff'")
    if (numbers && new Set(numbers).size < numbers.length) throw invalidField('numbers', 'must not repeat a part')
    return upload
  },
  async prepare(context, { file_name, content_type, size_bytes, after, limit, numbers }, { id, bucket }) {
    const wanted = { uploadId: id, bucket, name: file_name, contentType: content_type, totalBytes: size_bytes }
    const { upload, received } = await openParts(context, await reserveFile(context, wanted), wanted)
    const count = partCount(upload)
    if (numbers?.some((number) => number > count)) throw invalidField('numbers', `must be at most ${count}, the number of parts`)
    const page = numbers ? { missing: numbers, received: [], next: null } : pageOf(upload, received, after, limit)
    const parts: { number: number; offset: number; length: number; upload_url: string }[] = []
    for (const number of page.missing) {
      const part = { ...upload, number, expiresInSeconds: LIFETIME_SECONDS }
      parts.push({ number, ...partRange(part), upload_url: await context.storage.multipart.signPart(part) })
    }
    return {
      object_path: context.storage.uriOf(upload),
      part_bytes: upload.partBytes,
      part_count: count,
      received_bytes: receivedBytes(upload, received),
      received: page.received,
      parts,
      next: page.next,
    }
  },
  async execute({ tx, clock, attributeTo }, _input, { id, organizationId }, page) {
    attributeTo(organizationId)
    uploads.requireOpen(await uploads.lock(tx, id))
    await uploads.progress(tx, id, page.received_bytes, clock.now())
    return page
  },
})

/** Parts after `after`, until there are `limit` missing ones or the list of the others is long. */
function pageOf(upload: MultipartUpload, all: readonly ReceivedPart[], after: number, limit: number) {
  const known = new Map(all.map((part) => [part.number, part]))
  const count = partCount(upload)
  const missing: number[] = []
  const received: ReceivedPart[] = []
  let number = after
  while (number < count && missing.length < limit && received.length < MAX_RECEIVED) {
    const part = known.get(++number)
    if (part) received.push(part)
    else missing.push(number)
  }
  return { missing, received, next: number < count ? number : null }
}
