/** Whole files of open scenes, from the hosts that the registry lists. */
import { EgressError, type Egress } from '#adapters/egress/guard.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { FileDownload, FileUrls } from '#ports/vendors/catalog.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'

const START_MS = 60_000
const IDLE_MS = 60_000
const MAX_REDIRECTS = 3

interface DownloadParts {
  readonly egress: Egress
  readonly files: FileUrls
  /** `host` or `host:port`. */
  readonly fileHosts: readonly string[]
}

export function createDownloads({ egress, files, fileHosts }: DownloadParts): Vendors['download'] {
  const isListed = (url: URL): boolean => fileHosts.includes(url.host) || fileHosts.includes(url.hostname)
  const open = async (url: string, offset: number, signal: AbortSignal) =>
    await egress.open(url, {
      headers: { 'user-agent': 'groundtrack', ...(offset > 0 ? { range: `bytes=${offset}-` } : {}) },
      permit: isListed,
      maxRedirects: MAX_REDIRECTS,
      deadlineMs: START_MS,
      idleMs: IDLE_MS,
      signal,
    })
  /** A signature that the host does not accept any more is renewed once. */
  const openSigned = async (url: string, offset: number, signal: AbortSignal) => {
    if (!files.isSigned(url)) return await open(url, offset, signal)
    const first = await files.sign(url, null)
    const response = await open(first.url, offset, signal)
    if (response.status !== 401 && response.status !== 403) return response
    for await (const _chunk of response.body) break // Closes the connection.
    return await open((await files.sign(url, first.version)).url, offset, signal)
  }
  return async (url, { offset = 0, signal }) => {
    const host = URL.parse(url)?.host ?? 'the host'
    const fail = (code: VendorError['code'], what: string, cause?: unknown) =>
      new VendorError(code, host, `${host} ${what}`, cause === undefined ? {} : { cause })
    const explained = (error: unknown): unknown => {
      if (!(error instanceof EgressError)) return error
      return fail(
        error.kind === 'timeout' ? 'timeout' : error.kind === 'host' ? 'refused' : 'unavailable',
        `broke off: ${error.message}`,
        error,
      )
    }
    const response = await openSigned(url, offset, signal).catch((error: unknown) => {
      throw explained(error)
    })
    if (response.status === 404) throw fail('not-found', 'does not have the file any more')
    if (response.status !== (offset > 0 ? 206 : 200)) throw fail('unavailable', `answered ${response.status}`)
    const length = Number(response.headers['content-length'] ?? NaN)
    return {
      sizeBytes: Number.isSafeInteger(length) ? offset + length : null,
      version: response.headers['etag'] ?? response.headers['last-modified'] ?? null,
      body: whole(response.body, Number.isSafeInteger(length) ? length : null, fail, explained),
    } satisfies FileDownload
  }
}

/** Throws if the body is shorter than announced. */
async function* whole(
  body: AsyncIterable<Uint8Array>,
  length: number | null,
  fail: (code: VendorError['code'], what: string) => VendorError,
  explained: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.byteLength
      yield chunk
    }
  } catch (error) {
    throw explained(error)
  }
  if (length !== null && size !== length) throw fail('unavailable', `sent ${size} of ${length} bytes`)
}
