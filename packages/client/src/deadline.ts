/** Ends what takes too long. One slow clock for all calls, because a timer and a signal of its own cost each a tenth of a small call. */

const TICK_MS = 1_000

interface Waiting {
  readonly untilMs: number
  readonly end: () => void
}

const waiting = new Set<Waiting>()
let ticking: ReturnType<typeof setInterval> | null = null

export const timeIsUp = () => new Error('the time is up')

/** When the time is up the answer is given up: should it come later, it is thrown away. */
export function within(ms: number, coming: Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    const own: Waiting = { untilMs: performance.now() + ms, end: () => reject(timeIsUp()) }
    waiting.add(own)
    ticking ??= start()
    coming.then(
      (response) => {
        if (waiting.delete(own)) resolve(response)
        else void response.body?.cancel()
      },
      (error: unknown) => {
        waiting.delete(own)
        reject(error as Error)
      },
    )
  })
}

function start(): ReturnType<typeof setInterval> {
  const timer = setInterval(tick, TICK_MS)
  // In Node no program goes on for the sake of the clock; what it waits for does that.
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}

function tick(): void {
  const now = performance.now()
  for (const one of waiting) {
    if (one.untilMs > now) continue
    waiting.delete(one)
    one.end()
  }
  if (waiting.size > 0 || ticking === null) return
  clearInterval(ticking)
  ticking = null
}
