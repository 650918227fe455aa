/** Runs the queue of alert evaluations in rotation between organizations, so that a long queue delays only its own organization. */
import { forTenant } from '#core/tenant.ts'
import * as evaluations from '#model/events/alert-evaluation.ts'
import { evaluate, type EvaluationContext } from './evaluate.ts'

/** Concurrent evaluations in one process; tiles share the raster pool. */
const CONCURRENCY = 4
/** Concurrent evaluations of one organization, so that its slow rasters leave capacity for the others. */
const CONCURRENCY_PER_ORGANIZATION = 2

interface Evaluator {
  /** Starts the next evaluation. Returns whether more may be due. */
  step(): Promise<boolean>
  /** Runs all evaluations that are due and returns their number. For tests and operators. */
  drain(): Promise<number>
  close(): Promise<void>
}

export function createEvaluator(context: EvaluationContext & { onCapacity: () => void }): Evaluator {
  const { db, clock, onError, onCapacity } = context
  const running = new Set<Promise<void>>()
  const busy = new Map<string, number>()
  /** The last turn of each organization with waiting or running evaluations. */
  const turns = new Map<string, number>()
  let turn = 0

  const start = (evaluation: evaluations.Evaluation): void => {
    const { organizationId } = evaluation
    busy.set(organizationId, (busy.get(organizationId) ?? 0) + 1)
    turns.set(organizationId, ++turn)
    const run = forTenant(organizationId, () => evaluate(context, evaluation))
      .catch(onError)
      .finally(() => {
        running.delete(run)
        const left = busy.get(organizationId)! - 1
        if (left > 0) busy.set(organizationId, left)
        else busy.delete(organizationId)
        onCapacity()
      })
    running.add(run)
  }

  const step = async (): Promise<boolean> => {
    if (running.size >= CONCURRENCY) return false
    const waiting = await evaluations.organizationsWaiting(db, clock.now())
    for (const id of turns.keys()) if (!busy.has(id) && !waiting.includes(id)) turns.delete(id)
    const [next] = waiting
      .filter((id) => (busy.get(id) ?? 0) < CONCURRENCY_PER_ORGANIZATION)
      .toSorted((a, b) => (busy.get(a) ?? 0) - (busy.get(b) ?? 0) || (turns.get(a) ?? 0) - (turns.get(b) ?? 0))
    if (next === undefined) return false
    const evaluation = await evaluations.claim(db, next, clock.now())
    if (evaluation) start(evaluation)
    return true
  }

  return {
    step,
    async drain() {
      const before = turn
      for (;;) {
        while (await step());
        if (running.size === 0) return turn - before
        await Promise.race(running)
      }
    },
    async close() {
      await Promise.allSettled(running)
    },
  }
}
