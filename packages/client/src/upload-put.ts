/** One PUT of an upload, to a signed URL of the object store. */
import { timeoutError } from './deadline.ts'
import { AbortError, ConnectionError, problemOf, ProblemError } from './problem.ts'

/** A hanging connection would otherwise end only after many minutes. */
const TIMEOUT_MS = 300_000
/** A large part can take longer than that, at the pace of a slow connection. */
const MIN_BYTES_PER_MS = 64

export interface Source {
  /** Whether any range can be read at any time. */
  readonly isSeekable: boolean
  readonly name: string
  readonly size: number
  readonly type: string
  /** Reads a range; a stream can only read forward. */
  read(from: number, to: number): Promise<Uint8Array | Blob>
}

export async function put(
  url: string,
  { name, type }: Source,
  headers: Record<string, string>,
  body: Uint8Array | Blob,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const operation = `PUT ${name}`
  const timeout = new AbortController()
  const size = body instanceof Blob ? body.size : body.length
  const timer = setTimeout(() => timeout.abort(timeoutError()), TIMEOUT_MS + size / MIN_BYTES_PER_MS)
  try {
    const response = await globalThis.fetch(url, {
      method: 'PUT',
      headers: { 'content-type': type, ...headers },
      body: body as Uint8Array<ArrayBuffer> | Blob,
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    })
    if (response.ok || response.status === 308) return response
    if (response.status === 400 && (await response.clone().text()).includes('BadDigest'))
      throw new Error('the bytes were changed on the way')
    throw await problemOf(response, operation, null)
  } catch (error) {
    if (signal?.aborted) throw new AbortError(operation, signal.reason)
    if (error instanceof ProblemError) throw error
    throw new ConnectionError(operation, null, error)
  } finally {
    clearTimeout(timer)
  }
}

/** An expired URL: our store returns a problem, S3 returns 403 with XML. */
export const isExpired = (error: unknown) =>
  error instanceof ProblemError && error.status === 403 && (error.slug === 'expired-signature' || error.slug === 'unknown')

/** Whether a retry may succeed. `upload-offset`: another client wrote, or our offset differs from the store's. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError || isExpired(error)) return true
  return (
    error instanceof ProblemError &&
    (error.status >= 500 || [408, 429].includes(error.status) || ['upload-offset', 'checksum-mismatch'].includes(error.slug))
  )
}
