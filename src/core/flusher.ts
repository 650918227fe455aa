import { setTimeout as sleep } from 'node:timers/promises'
import { asPlatform } from './tenant.ts'
import { untraced } from './tracing.ts'

/** How long closing retries what could not be written. */
const CLOSE_WITHIN_MS = 5_000
const RETRY_MS = 250

/** Collects writes in memory and flushes them together after a short time, one flush at a time. */
interface Flusher {
  /** Something is pending: a flush starts within the interval. */
  arm(): void
  /** Flushes now, or waits for the flush in progress. */
  flush(): Promise<void>
  /** Flushes until nothing is pending. */
  flushAll(): Promise<void>
  close(): Promise<void>
}

interface FlusherOptions {
  /** Writes what is pending. What could not be written stays pending. */
  drain: () => Promise<void>
  isEmpty: () => boolean
  /** The interval, or how long until the next flush. */
  afterMs: number | (() => number)
  onError: (error: unknown) => void
}

export function createFlusher({ drain, isEmpty, afterMs, onError }: FlusherOptions): Flusher {
  let flushing: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  let isClosed = false
  const disarm = (): void => {
    if (timer) clearTimeout(timer)
    timer = null
  }
  const flush = (): Promise<void> => {
    disarm()
    return (flushing ??= asPlatform(() => untraced(drain)).finally(() => {
      flushing = null
    }))
  }
  const arm = (): void => {
    if (isClosed) return // Nothing can be written any more; a timer would retry forever.
    const waitMs = typeof afterMs === 'number' ? afterMs : afterMs()
    timer ??= setTimeout(() => {
      flush().catch((error: unknown) => {
        onError(error)
        if (!isEmpty()) arm()
      })
    }, waitMs)
  }
  const flushAll = async (): Promise<void> => {
    while (flushing || !isEmpty()) await flush()
  }
  /** The database may be restarting while we stop: what it could not take at once is not lost for that. */
  const untilFlushed = async (): Promise<void> => {
    const deadlineMs = performance.now() + CLOSE_WITHIN_MS
    for (;;)
      try {
        return await flushAll()
      } catch (error) {
        if (performance.now() > deadlineMs) throw error
        await sleep(RETRY_MS)
      }
  }
  return {
    arm,
    flush,
    flushAll,
    async close() {
      try {
        await untilFlushed()
      } finally {
        isClosed = true
        disarm()
      }
    },
  }
}
