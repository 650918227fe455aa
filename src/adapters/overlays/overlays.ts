/** Overlays of areas, computed in worker threads with a limit of crossings and a deadline. */
import { Worker } from 'node:worker_threads'
import { sqKmOf } from '#core/area.ts'
import { createLimiter, queueFull } from '#core/limiter.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { apart } from '#core/overlay.ts'
import { invalidField, problem, type Problem } from '#core/problem.ts'
import type { Coverage, OverlayContext, Overlays } from '#ports/overlays.ts'

export type Question =
  | { kind: 'union'; areas: readonly AreaGeometry[] }
  | { kind: 'layers'; layers: readonly (readonly AreaGeometry[])[] }
  | { kind: 'coverage'; area: AreaGeometry; shown: readonly AreaGeometry[] }

export type Answer = { result: unknown } | { refusal: Refusal }
type Refusal = 'crossings' | 'deadline' | 'failed'

/** A crossing takes a few milliseconds at worst, so all of them some seconds. */
export const MAX_CROSSINGS = 2_000
const DEADLINE_MS = 10_000
const MAX_THREADS = 2
const MAX_WAITING = 200
/** An idle thread ends after this time. */
const IDLE_MS = 10_000

const REFUSALS: Readonly<Record<Refusal, string>> = {
  crossings: `cross each other more than ${MAX_CROSSINGS} times; simplify them or split the request`,
  deadline: `take longer than ${DEADLINE_MS / 1000} seconds to combine; simplify them or split the request`,
  failed: 'cannot be combined; simplify them or split the request',
}

interface Limits {
  maxCrossings?: number
  deadlineMs?: number
}

export function createOverlays({ maxCrossings = MAX_CROSSINGS, deadlineMs = DEADLINE_MS }: Limits = {}): Overlays {
  const threads = new Set<Thread>()
  const free: Thread[] = []
  const limit = createLimiter({ maxRunning: MAX_THREADS, maxWaiting: MAX_WAITING, full: queueFull('areas to combine') })
  let isClosed = false

  const ask = async (question: Question, { organizationId, field }: OverlayContext): Promise<unknown> =>
    await limit(
      async () => {
        if (isClosed) throw stopping()
        const thread = free.pop() ?? start()
        const answer = await thread.run(question, { maxCrossings, deadlineMs })
        if (thread.isAlive) free.push(thread)
        if ('result' in answer) return answer.result
        if (isClosed) throw stopping()
        throw invalidField(field, REFUSALS[answer.refusal])
      },
      { tenant: organizationId },
    )

  const start = (): Thread => {
    const thread = new Thread(() => {
      threads.delete(thread)
      const at = free.indexOf(thread)
      if (at >= 0) free.splice(at, 1)
    })
    threads.add(thread)
    return thread
  }

  return {
    async union(areas, context) {
      return areas.length === 0 ? null : (apart(areas) ?? ((await ask({ kind: 'union', areas }, context)) as AreaGeometry | null))
    },
    async layers(layers, context) {
      const whole = apart(layers.flat())
      if (whole) return { whole, addedSqKm: layers.map((areas) => areas.reduce((sum, area) => sum + sqKmOf(area), 0)) }
      return (await ask({ kind: 'layers', layers }, context)) as { whole: AreaGeometry; addedSqKm: number[] }
    },
    async coverage(area, shown, context) {
      return shown.length === 0 ? { covered: null, rest: area } : ((await ask({ kind: 'coverage', area, shown }, context)) as Coverage)
    },
    async close() {
      isClosed = true
      await Promise.all([...threads].map((thread) => thread.end()))
    },
  }
}

const stopping = (): Problem =>
  problem('unavailable', 'The service is stopping; try again in a moment', { headers: { 'Retry-After': '2' } })

/** Computes one overlay at a time. A thread that does not finish in time is terminated. */
class Thread {
  readonly #worker = new Worker(new URL('./thread.ts', import.meta.url))
  readonly #onEnd: () => void
  #waiting: { id: number; resolve: (answer: Answer) => void } | null = null
  #idle: NodeJS.Timeout | undefined
  #nextId = 1
  isAlive = true

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
    this.#worker.unref()
    this.#worker.on('message', ({ id, ...answer }: { id: number } & Answer) => {
      if (this.#waiting?.id === id) this.#answer(answer as Answer)
    })
    this.#worker.on('error', () => void this.end())
  }

  async run(question: Question, { maxCrossings, deadlineMs }: Required<Limits>): Promise<Answer> {
    clearTimeout(this.#idle)
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const id = this.#nextId++
    this.#waiting = { id, resolve }
    this.#worker.postMessage({ id, question, maxCrossings })
    const deadline = setTimeout(() => void this.end('deadline'), deadlineMs)
    try {
      return await promise
    } finally {
      clearTimeout(deadline)
      if (this.isAlive) this.#idle = setTimeout(() => void this.end(), IDLE_MS).unref()
    }
  }

  #answer(answer: Answer): void {
    this.#waiting?.resolve(answer)
    this.#waiting = null
  }

  async end(refusal: Refusal = 'failed'): Promise<void> {
    clearTimeout(this.#idle)
    this.isAlive = false
    this.#onEnd()
    await this.#worker.terminate()
    this.#answer({ refusal })
  }
}
