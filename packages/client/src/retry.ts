/** When a call is made again, and after how long. */
import { AbortError, type ProblemError } from './problem.ts'

/** What a call does if it runs twice: nothing, nothing by its key, or everything. */
export type Repeat = 'read' | 'keyed' | 'write'

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 20_000
/** Who is asked to wait longer than this is told instead. */
const MAX_RETRY_AFTER_SECONDS = 60

/** Refused before anything was done: safe to repeat whatever the call does. */
const NOT_BEGUN = new Set([429, 503])
/** Something may have been done: safe where repeating does nothing. */
const PERHAPS_DONE = new Set([500, 502, 504])

export function mayRepeat(error: ProblemError, repeat: Repeat): boolean {
  if ((error.retryAfterSeconds ?? 0) > MAX_RETRY_AFTER_SECONDS || error.slug === 'billing-not-configured') return false
  if (error.slug === 'idempotency-in-progress') return true
  return NOT_BEGUN.has(error.status) || (PERHAPS_DONE.has(error.status) && repeat !== 'write')
}

/** Grows with each try, and is spread, so that callers who failed together do not come back together. */
export function delayMs(attempt: number, retryAfterSeconds: number | null): number {
  if (retryAfterSeconds !== null) return retryAfterSeconds * 1000
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) * (0.5 + Math.random() / 2)
}

/** Ends early, with an AbortError, when the signal aborts. */
export function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new AbortError('The wait', signal.reason))
    const stop = () => {
      clearTimeout(timer)
      reject(new AbortError('The wait', signal!.reason))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
