/** Which calls are retried, and after how long. */
import { AbortError, type ProblemError } from './problem.ts'

/** The effect of running a call twice: none, none because of its idempotency key, or twice. */
export type Repeat = 'read' | 'keyed' | 'write'

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 20_000
/** A longer `Retry-After` fails the call instead. */
const MAX_RETRY_AFTER_SECONDS = 60

/** Rejected before anything ran: always safe to retry. */
const NOT_STARTED = new Set([429, 503])
/** The call may have run: safe to retry if running it twice has no effect. */
const MAYBE_DONE = new Set([500, 502, 504])

export function canRetry(error: ProblemError, repeat: Repeat): boolean {
  if ((error.retryAfterSeconds ?? 0) > MAX_RETRY_AFTER_SECONDS || error.slug === 'billing-not-configured') return false
  if (error.slug === 'idempotency-in-progress') return true
  return NOT_STARTED.has(error.status) || (MAYBE_DONE.has(error.status) && repeat !== 'write')
}

/** Exponential backoff with jitter, so that callers that failed together do not retry together. */
export function delayMs(attempt: number, retryAfterSeconds: number | null): number {
  if (retryAfterSeconds !== null) return retryAfterSeconds * 1000
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) * (0.5 + Math.random() / 2)
}

/** Rejects with an AbortError when the signal aborts. */
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
