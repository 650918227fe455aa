/** Ends what takes too long. One slow clock for all calls, because a timer of its own would cost each a tenth of a small call. */

const TICK_MS = 1_000

interface Waiting {
  readonly untilMs: number
  readonly call: AbortController
}

const waiting = new Set<Waiting>()
let ticking: ReturnType<typeof setInterval> | null = null

export const timeIsUp = () => new Error('the time is up')

/** Aborts what was begun unless its answer begins in time; how long the body takes is not looked at. */
export function within(ms: number, begin: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const own: Waiting = { untilMs: performance.now() + ms, call: new AbortController() }
  waiting.add(own)
  ticking ??= start()
  return begin(own.call.signal).then(
    (response) => (waiting.delete(own), response),
    (error: unknown) => {
      waiting.delete(own)
      throw error
    },
  )
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
    one.call.abort(timeIsUp())
  }
  if (waiting.size > 0 || ticking === null) return
  clearInterval(ticking)
  ticking = null
}
