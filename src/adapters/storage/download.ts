import { ReadStream } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { problem } from '#core/problem.ts'
import type { EgressMeter } from '#ports/storage.ts'
import { streamOf, type FileStore, type OpenObject } from './files.ts'
import { contentDisposition } from './keys.ts'
import { isSameVersion, namesTag, parseRange } from './range.ts'
import type { VerifiedRequest } from './signature.ts'

/** GET and HEAD of an object: all of it or one range, of one version, at the client's pace. */
export async function sendObject(
  store: FileStore,
  signed: VerifiedRequest,
  request: IncomingMessage,
  response: ServerResponse,
  meter: EgressMeter | null,
): Promise<void> {
  const countFor = request.method === 'GET' ? signed.countFor : null
  if (countFor !== null) await meter?.admit(countFor)
  const object = await store.open(signed)
  let isHandedOver = false
  try {
    const answer = decide(object, request)
    response.writeHead(answer.status, { ...describe(object, signed), ...answer.headers })
    if (request.method === 'HEAD' || answer.length === null) return void response.end()
    isHandedOver = true // The stream closes the handle, however it ends.
    const bytes = await streamOf(object.handle, answer.offset, answer.length)
    try {
      await pipeline(bytes, response)
    } finally {
      if (countFor !== null) meter?.count(countFor, bytes instanceof ReadStream ? bytes.bytesRead : 0) // However far it got.
    }
  } finally {
    if (!isHandedOver) await object.handle.close()
  }
}

interface Answer {
  status: number
  headers: Record<string, string>
  offset: number
  /** Null: no body. */
  length: number | null
}

/** RFC 9110, section 13.2.2: If-Match, then If-None-Match, then Range if If-Range agrees. */
function decide({ info }: OpenObject, { method, headers }: IncomingMessage): Answer {
  if (headers['if-match'] !== undefined && !namesTag(headers['if-match'], info.etag))
    throw problem('precondition-failed', 'The object does not match If-Match')
  if (headers['if-none-match'] !== undefined && namesTag(headers['if-none-match'], info.etag))
    return { status: 304, headers: {}, offset: 0, length: null }
  const wantsPart = method === 'GET' && isSameVersion(single(headers['if-range']), info.etag, info.lastModified)
  const range = wantsPart ? parseRange(headers.range, info.size) : 'whole'
  if (range === 'unsatisfiable') {
    throw problem('range-not-satisfiable', `The requested range is outside the object, which has ${info.size} bytes`, {
      headers: { 'Content-Range': `bytes */${info.size}`, 'Accept-Ranges': 'bytes' },
    })
  }
  if (range === 'whole') return { status: 200, headers: { 'Content-Length': String(info.size) }, offset: 0, length: info.size }
  const length = range.last - range.first + 1
  return {
    status: 206,
    headers: { 'Content-Length': String(length), 'Content-Range': `bytes ${range.first}-${range.last}/${info.size}` },
    offset: range.first,
    length,
  }
}

function describe({ info }: OpenObject, signed: VerifiedRequest): Record<string, string> {
  return {
    ETag: info.etag,
    'Last-Modified': info.lastModified.toUTCString(),
    'Content-Type': signed.contentType ?? info.contentType,
    'Content-Disposition': contentDisposition(signed.fileName),
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-transform',
  }
}

const single = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)
