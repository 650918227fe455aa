/** Timeouts with one slow timer for all calls, because a timer and a signal per call each cost a tenth of a small call. */

const TICK_MS = 1_000

interface Deadline {
  readonly expiresAtMs: number
  readonly expire: () => void
}

const deadlines = new Set<Deadline>()
let ticking: ReturnType<typeof setInterval> | null = null

export const timeoutError = () => new Error('the request timed out')

/** Rejects after `ms`; a response that arrives later is discarded. */
export function within(ms: number, response: Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    const deadline: Deadline = { expiresAtMs: performance.now() + ms, expire: () => reject(timeoutError()) }
    deadlines.add(deadline)
    ticking ??= start()
    response.then(
      (arrived) => {
        if (deadlines.delete(deadline)) resolve(arrived)
        else void arrived.body?.cancel()
      },
      (error: unknown) => {
        deadlines.delete(deadline)
        reject(error as Error)
      },
    )
  })
}

function start(): ReturnType<typeof setInterval> {
  const timer = setInterval(tick, TICK_MS)
  // In Node, this timer alone must not keep a program running.
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}

function tick(): void {
  const now = performance.now()
  for (const deadline of deadlines) {
    if (deadline.expiresAtMs > now) continue
    deadlines.delete(deadline)
    deadline.expire()
  }
  if (deadlines.size > 0 || ticking === null) return
  clearInterval(ticking)
  ticking = null
}
