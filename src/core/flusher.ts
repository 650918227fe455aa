import { asPlatform } from './tenant.ts'

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
  afterMs: number
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
    return (flushing ??= asPlatform(drain).finally(() => {
      flushing = null
    }))
  }
  const arm = (): void => {
    if (isClosed) return // Nothing can be written any more; a timer would retry forever.
    timer ??= setTimeout(() => {
      flush().catch((error: unknown) => {
        onError(error)
        if (!isEmpty()) arm()
      })
    }, afterMs)
  }
  const flushAll = async (): Promise<void> => {
    while (flushing || !isEmpty()) await flush()
  }
  return {
    arm,
    flush,
    flushAll,
    async close() {
      try {
        await flushAll()
      } finally {
        isClosed = true
        disarm()
      }
    },
  }
}
