import { asPlatform } from './tenant.ts'

/** Gathers what was written to memory and writes it out together, soon after, one round at a time. */
interface Flusher {
  /** Something waits: a round begins at the latest after the interval. */
  arm(): void
  /** One round now, or the one under way. */
  flush(): Promise<void>
  /** Until nothing waits. */
  flushAll(): Promise<void>
  close(): Promise<void>
}

interface FlusherOptions {
  /** Writes what waits. What it could not write still waits afterwards. */
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
    if (isClosed) return // Whatever comes now has nowhere to go: a timer would try it for ever.
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
