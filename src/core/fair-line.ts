import { problem, type Problem } from './problem.ts'

interface FairLine {
  maxRunning: number
  maxWaiting: number
  /** What there are too many of when the line is full. */
  waiting: string
}

interface Waiting {
  start(): void
  sendAway(reason: Problem): void
}

/**
 * Lets so many run at a time, one caller after the other: whoever brings much waits behind their own, and the next caller's
 * turn comes all the same. When too many wait, the newest of the longest line is told to come back.
 */
export function fairLine({ maxRunning, maxWaiting, waiting: what }: FairLine): <T>(who: string, work: () => Promise<T>) => Promise<T> {
  /** In the order of their turns: a caller who had one goes to the end. */
  const lines = new Map<string, Waiting[]>()
  let count = 0
  let running = 0
  const full = () => problem('unavailable', `Too many ${what} at once; try again in a moment`, { headers: { 'Retry-After': '2' } })

  const makeRoom = (who: string): void => {
    const longest = [...lines].reduce<[string, Waiting[]] | null>(
      (most, line) => (line[1].length > (most?.[1].length ?? 0) ? line : most),
      null,
    )
    if (!longest || longest[1].length <= (lines.get(who)?.length ?? 0) + 1) throw full()
    count--
    longest[1].pop()!.sendAway(full())
  }
  const wait = (who: string): Promise<void> => {
    if (count >= maxWaiting) makeRoom(who)
    count++
    return new Promise((resolve, reject) => {
      const line = lines.get(who) ?? []
      lines.set(who, line)
      line.push({ start: resolve, sendAway: reject })
    })
  }
  const next = (): Waiting | null => {
    const [first] = lines
    if (!first) return null
    const [who, line] = first
    const turn = line.shift()!
    lines.delete(who)
    if (line.length > 0) lines.set(who, line)
    count--
    return turn
  }
  return async (who, work) => {
    if (running < maxRunning) running++
    else await wait(who)
    try {
      return await work()
    } finally {
      const turn = next()
      if (turn) turn.start() // The place is handed over, so that nobody slips in between.
      else running--
    }
  }
}
