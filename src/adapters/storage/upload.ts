// PUT: the whole object at once, or in chunks to the same URL, like the resumable uploads of the large object stores.
//
//   PUT  Content-Range: bytes 0-999/5000      308, Range: bytes=0-999, Upload-Offset: 1000: continue there
//   PUT  Content-Range: bytes */5000          308 and the offset, or 200 if everything is stored; HEAD does the same
//   PUT  Content-Range: bytes 1000-4999/5000  200, ETag
//
// Bytes that were already received are skipped, so that a client can simply repeat a chunk. A URL is valid for minutes and a
// large file takes longer: every URL of the same file of a session continues the same upload.
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { problem } from '#core/problem.ts'
import { MAX_OBJECT_BYTES, StorageError, type UploadQuota } from '#ports/storage.ts'
import type { FileStore } from './files.ts'
import { parseContentRange, type ContentRange } from './range.ts'
import type { SignedPart, VerifiedRequest } from './signature.ts'

type Piece = Extract<ContentRange, { kind: 'piece' }>

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly signed: VerifiedRequest
  /** Tells a client that waits for `100 Continue` to send its body. */
  proceed(): void
}

export type Uploader = (exchange: Exchange) => Promise<void>

export function createUploader(store: FileStore, quota: UploadQuota | null): Uploader {
  const exclusively = createUploadLocks()
  return async ({ request, response, signed, proceed }) => {
    const { part } = signed
    if (part) {
      if (request.method === 'HEAD') throw problem('method-not-allowed', 'The URL of a part accepts PUT', { headers: { Allow: 'PUT' } })
      return await exclusively(`${part.id}/${part.number}`, request, 'take over', () =>
        receivePart(store, part, { request, response, signed, proceed }),
      )
    }
    if (request.method === 'HEAD') return await tellProgress(store, signed, null, response)
    if (request.headers['content-type'] !== signed.contentType)
      throw problem('invalid-signature', `The URL is signed for Content-Type: ${signed.contentType}`)
    const length = declaredLength(request)
    const range = contentRange(request)
    checkLength(range?.total ?? length, signed)
    if (range?.kind === 'question') {
      if (length !== 0) throw problem('bad-request', 'A status query must have no body')
      const { total } = range
      if (!(await isAllHere(store, total, signed))) return await tellProgress(store, signed, total, response)
      return await exclusively(
        uploadId(signed, total),
        request,
        'wait',
        async () => await ((await isAllHere(store, total, signed)) ? complete : tellProgress)(store, signed, total, response),
      )
    }
    if (range && range.last - range.first + 1 !== length)
      throw problem('bad-request', `Content-Range has ${range.last - range.first + 1} bytes, but the body has ${length}`)
    if (signed.countFor !== null) await quota?.reserve(signed.countFor, range?.total ?? length)
    if (range)
      return await exclusively(uploadId(signed, range.total), request, 'take over', () =>
        receivePiece(store, range, { request, response, signed, proceed }),
      )
    proceed()
    const { etag } = await store.put(signed, bytesOf(request), { contentType: signed.contentType!, maxBytes: length })
    response.writeHead(200, { ETag: etag, 'Content-Length': '0' }).end()
  }
}

/** One part of an upload in parts, whole or not at all. As in S3, its tag is its MD5. */
async function receivePart(store: FileStore, part: SignedPart, { request, response, proceed }: Exchange): Promise<void> {
  const length = declaredLength(request)
  if (length !== part.length) throw problem('invalid-signature', `The URL is signed for a part of ${part.length} bytes, not ${length}`)
  const md5 = contentMd5(request)
  proceed()
  try {
    const received = await store.parts.write(part, bytesOf(request), md5)
    response.writeHead(200, { ETag: `"${received}"`, 'Content-Length': '0' }).end()
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'changed')) throw error
    throw problem('checksum-mismatch', 'The bytes that arrived differ from Content-MD5; send the part again')
  }
}

/** In hexadecimal; null if the client sent none. */
function contentMd5({ headers }: IncomingMessage): string | null {
  const header = headers['content-md5']
  if (header === undefined) return null
  if (!/^[A-Za-z0-9+/]{22}==$/.test(String(header))) throw problem('bad-request', 'Content-MD5 must be 16 bytes in base64')
  return Buffer.from(String(header), 'base64').toString('hex')
}

async function receivePiece(store: FileStore, piece: Piece, { request, response, signed, proceed }: Exchange): Promise<void> {
  const id = uploadId(signed, piece.total)
  const offset = await store.uploads.offset(id)
  if (offset === 0 && piece.first > 0 && (await store.madeBy(id, signed))) return await tellProgress(store, signed, piece.total, response)
  if (piece.first > offset)
    throw problem('upload-offset', `The upload is at byte ${offset}, but this chunk starts at ${piece.first}`, {
      headers: { 'Upload-Offset': String(offset) },
    })
  if (offset > piece.total) throw problem('bad-request', `${offset} bytes are already uploaded, more than the total of ${piece.total}`)
  proceed()
  const reached = await store.uploads.append(id, offset, skipping(bytesOf(request), offset - piece.first))
  if (reached < piece.total) return answerProgress(response, reached)
  await complete(store, signed, piece.total, response)
}

/**
 * Identifies a resumable upload. For a file of a session: the file and its length, whichever URL is used; a file with another
 * length starts a new upload. Any other URL is its own upload.
 */
const uploadId = (signed: VerifiedRequest, total: number): string => (signed.countFor === null ? signed.id : `${fileIdOf(signed)}-${total}`)

function fileIdOf({ bucket, key, contentType, countFor }: VerifiedRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([bucket, key, contentType, countFor]))
    .digest('hex')
    .slice(0, 32)
}

/**
 * The bytes can be complete without an object, if we were killed between the last byte and the commit. Then a status query
 * completes it.
 */
async function isAllHere(store: FileStore, total: number, signed: VerifiedRequest): Promise<boolean> {
  return total > 0 && (await store.uploads.offset(uploadId(signed, total))) === total
}

async function complete(store: FileStore, signed: VerifiedRequest, total: number, response: ServerResponse): Promise<void> {
  const { etag, size } = await store.commitUpload(uploadId(signed, total), signed, signed.contentType!)
  response.writeHead(200, { ETag: etag, 'Upload-Offset': String(size), 'Content-Length': '0' }).end()
}

/** A HEAD query has no length: if the file was started with several, the most advanced counts. */
async function tellProgress(store: FileStore, signed: VerifiedRequest, total: number | null, response: ServerResponse): Promise<void> {
  const id = total === null ? null : uploadId(signed, total)
  const object = await store.madeBy(id ?? (signed.countFor === null ? signed.id : fileIdOf(signed)), signed)
  if (object) return void response.writeHead(200, { ETag: object.etag, 'Upload-Offset': String(object.size), 'Content-Length': '0' }).end()
  if (id !== null || signed.countFor === null) return answerProgress(response, await store.uploads.offset(id ?? signed.id))
  answerProgress(response, await store.uploads.furthest(fileIdOf(signed)))
}

function answerProgress(response: ServerResponse, offset: number): void {
  response
    .writeHead(308, { 'Upload-Offset': String(offset), ...(offset > 0 ? { Range: `bytes=0-${offset - 1}` } : {}), 'Content-Length': '0' })
    .end()
}

function declaredLength({ headers }: IncomingMessage): number {
  const length = headers['content-length']
  if (length === undefined || headers['transfer-encoding'] !== undefined)
    throw problem('length-required', 'Send Content-Length instead of chunked transfer encoding')
  return Number(length)
}

function contentRange({ headers }: IncomingMessage): ContentRange | null {
  const header = headers['content-range']
  if (header === undefined) return null
  const range = parseContentRange(header)
  if (!range) throw problem('bad-request', 'Content-Range must be `bytes first-last/total` or `bytes */total`')
  return range
}

function checkLength(length: number, signed: VerifiedRequest): void {
  const limit = signed.maxBytes ?? MAX_OBJECT_BYTES
  if (length > limit) throw problem('object-too-large', `The URL is signed for at most ${limit} bytes, not ${length}`)
}

/** We still owe a response when we stop reading early, so keep the connection open. */
function bytesOf(request: IncomingMessage): AsyncIterable<Uint8Array> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
}

async function* skipping(chunks: AsyncIterable<Uint8Array>, count: number): AsyncIterable<Uint8Array> {
  let left = count
  for await (const chunk of chunks) {
    const skipped = Math.min(left, chunk.length)
    left -= skipped
    if (skipped < chunk.length) yield chunk.subarray(skipped)
  }
}

/**
 * One request at a time writes an upload, and the newest wins: a client that reconnects need not wait until we notice that
 * its old connection is dead.
 */
function createUploadLocks(): (
  id: string,
  request: IncomingMessage,
  manner: 'take over' | 'wait',
  work: () => Promise<void>,
) => Promise<void> {
  const current = new Map<string, { request: IncomingMessage; done: Promise<void> }>()
  return async (id, request, manner, work) => {
    const former = current.get(id)
    if (manner === 'take over') former?.request.destroy()
    const done = (former?.done ?? Promise.resolve()).then(work)
    const quiet = done.catch(() => {})
    const mine = { request, done: quiet }
    current.set(id, mine)
    try {
      await done
    } finally {
      if (current.get(id) === mine) current.delete(id)
    }
  }
}
