/**
 * Limits how many calls run and how many wait. Callers of one tenant are served in order, and tenants in rotation, so that a busy tenant
 * waits behind its own requests. `docs/fairness.md` lists which limiter protects what.
 */
import { FairQueue } from './fair-queue.ts'
import { problem } from './problem.ts'

interface LimiterOptions {
  readonly maxRunning: number
  readonly maxWaiting: number
  /** The error for a caller when the queue is full. */
  readonly full: () => Error
}

interface WaitOptions {
  /** Omit it if all callers share one queue. */
  readonly tenant?: string
  readonly signal?: AbortSignal | undefined
  readonly timeout?: { readonly ms: number; readonly error: () => Error }
}

interface Waiting {
  start(): void
  reject(error: unknown): void
}

export type Limiter = <T>(work: () => Promise<T>, options?: WaitOptions) => Promise<T>

export function createLimiter({ maxRunning, maxWaiting, full }: LimiterOptions): Limiter {
  const queue = new FairQueue<Waiting>()
  let running = 0

  /** Rejects the newest entry of the longest queue, so that a tenant that floods it does not block the others. */
  const makeSpace = (tenant: string): void => {
    const longest = queue.longest()
    if (longest === null || queue.waitingOf(longest) <= queue.waitingOf(tenant) + 1) throw full()
    queue.takeNewest(longest)!.reject(full())
  }
  const wait = ({ tenant = '', signal, timeout }: WaitOptions): Promise<void> => {
    if (queue.size >= maxWaiting) makeSpace(tenant)
    return new Promise((resolve, reject) => {
      const leave = (error: unknown): void => {
        queue.remove(tenant, waiting)
        settle()
        reject(error)
      }
      const onAbort = (): void => leave(signal!.reason)
      const timer = timeout && setTimeout(() => leave(timeout.error()), timeout.ms)
      const settle = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      const waiting: Waiting = {
        start() {
          settle()
          resolve()
        },
        reject(error) {
          settle()
          reject(error)
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      queue.push(tenant, waiting)
    })
  }
  return async (work, options = {}) => {
    options.signal?.throwIfAborted()
    if (running < maxRunning) running++
    else await wait(options)
    try {
      return await work()
    } finally {
      const next = queue.take(() => true)
      if (next) next.entry.start() // Passes the slot on, so that no new caller can take it first.
      else running--
    }
  }
}

/** The default error for a full queue. */
export const queueFull = (what: string) => () =>
  problem('unavailable', `Too many ${what} at once; try again in a moment`, { headers: { 'Retry-After': '2' } })
