import { RasterError, throwIfAborted } from '#raster/errors.ts'
import { coalesced } from '#raster/source/coalesce.ts'
import { withPages } from '#raster/source/pages.ts'
import { assertRange } from '#raster/source/range.ts'
import type { Source } from '#raster/types.ts'

/** What we need of a response; compatible with the global `Response` and undici's. */
interface HttpResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}

interface HttpRequestInit {
  readonly headers: Record<string, string>
  readonly signal: AbortSignal
}

/** The platform's egress guard: it decides which hosts can be reached and which redirects followed. */
export type HttpFetch = (url: string, init: HttpRequestInit) => Promise<HttpResponse>

export interface HttpSourceOptions {
  readonly fetch: HttpFetch
  /** Cache identity of the file, if not its URL. */
  readonly name?: string | undefined
  /** For one range, from the request to the last byte. */
  readonly deadlineMs?: number
  /** The start of the file, which holds a COG's directories, is fetched with the first request. */
  readonly headerBytes?: number
  /** The largest range of one request. */
  readonly maxRangeBytes?: number
  readonly signal?: AbortSignal | undefined
}

const DEFAULT_DEADLINE_MS = 15_000
const DEFAULT_HEADER_BYTES = 64 * 1024
const DEFAULT_MAX_RANGE_BYTES = 64 * 1024 * 1024

interface Connection {
  readonly url: string
  readonly fetch: HttpFetch
  readonly deadlineMs: number
  readonly maxRangeBytes: number
}

/** The version of the object in the first response; every later response must have the same. */
interface Pinned {
  readonly size: number
  readonly etag: string | null
  readonly lastModified: string | null
}

interface RangeAnswer {
  readonly bytes: Uint8Array
  readonly pinned: Pinned
}

/**
 * Opens a file on an HTTP server that supports ranges. The version is pinned: a file that
 * changes while it is read is an error, never a mix of two versions.
 */
export async function openHttpSource(url: string, options: HttpSourceOptions): Promise<Source> {
  const connection: Connection = {
    url,
    fetch: options.fetch,
    deadlineMs: options.deadlineMs ?? DEFAULT_DEADLINE_MS,
    maxRangeBytes: options.maxRangeBytes ?? DEFAULT_MAX_RANGE_BYTES,
  }
  const headerBytes = options.headerBytes ?? DEFAULT_HEADER_BYTES
  const { bytes: header, pinned } = await requestRange(connection, { offset: 0, length: headerBytes }, null, options.signal)
  const version = pinned.etag ?? `${pinned.size}-${pinned.lastModified ?? 'unversioned'}`
  const ranges: Source = {
    key: `http:${options.name ?? url}:${version}`,
    size: pinned.size,
    etag: pinned.etag,
    fetch: async (offset, length, signal) => (await requestRange(connection, { offset, length }, pinned, signal)).bytes,
  }
  return withHeader(withPages(coalesced(ranges, { maxRangeBytes: connection.maxRangeBytes })), header)
}

/** Serves the start of the file from the first response. */
function withHeader(source: Source, header: Uint8Array): Source {
  return {
    ...source,
    async fetch(offset, length, signal) {
      throwIfAborted(signal)
      assertRange(offset, length, source.size)
      if (offset + length <= header.byteLength) return header.subarray(offset, offset + length)
      return length === 0 ? new Uint8Array(0) : source.fetch(offset, length, signal)
    },
  }
}

async function requestRange(
  connection: Connection,
  range: { offset: number; length: number },
  pinned: Pinned | null,
  signal: AbortSignal | undefined,
): Promise<RangeAnswer> {
  if (range.length > connection.maxRangeBytes) {
    throw new RasterError('limit_exceeded', `A range of ${range.length} bytes is too large for one request`)
  }
  const deadline = AbortSignal.timeout(connection.deadlineMs)
  // Cancel the body of a rejected response: nobody else would close it.
  const refused = new AbortController()
  const either = AbortSignal.any([deadline, refused.signal, ...(signal ? [signal] : [])])
  try {
    const headers = requestHeaders(range, pinned)
    const response = await untilAborted(connection.fetch(connection.url, { headers, signal: either }), either)
    const answer = checkAnswer(response, range, pinned)
    const bytes = await readBody(response, answer.length, either)
    return { bytes, pinned: answer.pinned }
  } catch (cause) {
    refused.abort()
    if (cause instanceof RasterError) throw cause
    throwIfAborted(signal)
    if (deadline.aborted) {
      throw new RasterError('source_unavailable', `The server did not respond within ${connection.deadlineMs} ms`, { cause })
    }
    throw new RasterError('source_unavailable', 'The server could not be reached', { cause })
  }
}

function requestHeaders(range: { offset: number; length: number }, pinned: Pinned | null): Record<string, string> {
  const headers: Record<string, string> = {
    range: `bytes=${range.offset}-${range.offset + range.length - 1}`,
    // Ranges of a compressed response would not be ranges of the file.
    'accept-encoding': 'identity',
  }
  // If-Match compares strongly: a weak validator would never match, so we compare it ourselves.
  if (pinned?.etag && !pinned.etag.startsWith('W/')) headers['if-match'] = pinned.etag
  else if (pinned?.lastModified) headers['if-unmodified-since'] = pinned.lastModified
  return headers
}

function checkAnswer(
  response: HttpResponse,
  range: { offset: number; length: number },
  pinned: Pinned | null,
): { length: number; pinned: Pinned } {
  if (response.status === 412) throw changed()
  assertThere(response, pinned)
  if (response.status === 200) {
    throw new RasterError('source_unavailable', 'The server does not support byte ranges, which are required to read a raster over HTTP')
  }
  if (response.status !== 206) throw new RasterError('source_unavailable', `The server returned status ${response.status}`)
  const encoding = response.headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw new RasterError('source_unavailable', 'The server compresses byte ranges, which is not supported')
  }
  const { start, end, size } = parseContentRange(response.headers.get('content-range'))
  const seen: Pinned = { size, etag: response.headers.get('etag'), lastModified: response.headers.get('last-modified') }
  if (pinned && (seen.size !== pinned.size || seen.etag !== pinned.etag)) throw changed()
  const length = Math.min(range.length, size - range.offset)
  if (start !== range.offset || end !== range.offset + length - 1) {
    throw new RasterError('source_unavailable', 'The server returned another byte range than requested')
  }
  const declared = response.headers.get('content-length')
  if (declared !== null && Number(declared) !== length) {
    throw new RasterError('source_unavailable', 'The server returned a Content-Length that does not match its byte range')
  }
  return { length, pinned: seen }
}

/** Statuses that mean that the URL is wrong, not the server. */
const NOT_THERE: readonly number[] = [401, 403, 404, 410]

function assertThere({ status, headers }: HttpResponse, pinned: Pinned | null): void {
  if (NOT_THERE.includes(status)) {
    if (pinned) throw changed()
    throw new RasterError('invalid_argument', `The file does not exist or is not public: the server returned status ${status}`)
  }
  const isEmpty =
    status === 416 ? /^bytes \*\/0$/.test(headers.get('content-range') ?? '') : status === 200 && headers.get('content-length') === '0'
  if (isEmpty) throw new RasterError('not_a_tiff', 'The file at this URL is empty')
}

function parseContentRange(text: string | null): { start: number; end: number; size: number } {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(text ?? '')
  if (!match) throw new RasterError('source_unavailable', 'The server returned no valid Content-Range')
  return { start: Number(match[1]), end: Number(match[2]), size: Number(match[3]) }
}

/** Reads exactly `length` bytes; one more ends the transfer at once, so an endless body costs nothing. */
async function readBody(response: HttpResponse, length: number, signal: AbortSignal): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let done = 0
  if (response.body) {
    const chunks = response.body[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await untilAborted(chunks.next(), signal)
        if (next.done) break
        if (done + next.value.byteLength > length) {
          throw new RasterError('source_unavailable', 'The server sent more bytes than its byte range')
        }
        bytes.set(next.value, done)
        done += next.value.byteLength
      }
    } catch (error) {
      // Do not wait: a body that hangs may hang in its clean-up too.
      chunks.return?.().catch(() => undefined)
      throw error
    }
  }
  if (done !== length) throw new RasterError('source_unavailable', 'The server sent fewer bytes than its byte range')
  return bytes
}

/** The deadline applies even to a client that ignores its signal. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

function changed(): RasterError {
  return new RasterError('source_changed', 'The file changed on its server while it was read')
}
