import { problem } from './problem.ts'

interface Line {
  maxRunning: number
  maxWaiting: number
  /** What there are too many of when the line is full. */
  waiting: string
}

/** Lets so many run at a time and so many wait, in the order in which they came; whoever comes then is told to come back. */
export function limiter({ maxRunning, maxWaiting, waiting: what }: Line): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < maxRunning) running++
    else {
      if (waiting.length >= maxWaiting)
        throw problem('unavailable', `Too many ${what} at once; try again in a moment`, { headers: { 'Retry-After': '2' } })
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next() // The place is handed over, so that nobody slips in between.
      else running--
    }
  }
}
