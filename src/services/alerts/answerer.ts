/** Answers what alert rules were asked, one organization after the other: whoever has much waits behind their own. */
import { forTenant } from '#core/tenant.ts'
import * as evaluations from '#model/events/alert-evaluation.ts'
import { answer, type Answering } from './answer.ts'

/** At once in one process; the raster pool has others to serve. */
const AT_ONCE = 4
/** Of one organization at once, so that slow rasters of one leave room for the others. */
const AT_ONCE_PER_ORGANIZATION = 2

interface Answerer {
  /** Begins the next answer; says whether to ask again at once. */
  step(): Promise<boolean>
  /** Answers everything that is due, and says how much that was. For tests and operators. */
  drain(): Promise<number>
  close(): Promise<void>
}

export function createAnswerer(context: Answering & { onCapacity: () => void }): Answerer {
  const { db, clock, onError, onCapacity } = context
  const running = new Set<Promise<void>>()
  const busy = new Map<string, number>()
  /** When an organization last had its turn, of those that wait or are being answered. */
  const turns = new Map<string, number>()
  let turn = 0

  const begin = (question: evaluations.Evaluation): void => {
    const { organizationId } = question
    busy.set(organizationId, (busy.get(organizationId) ?? 0) + 1)
    turns.set(organizationId, ++turn)
    const answered = forTenant(organizationId, () => answer(context, question))
      .catch(onError)
      .finally(() => {
        running.delete(answered)
        const left = busy.get(organizationId)! - 1
        if (left > 0) busy.set(organizationId, left)
        else busy.delete(organizationId)
        onCapacity()
      })
    running.add(answered)
  }

  const step = async (): Promise<boolean> => {
    if (running.size >= AT_ONCE) return false
    const waiting = await evaluations.organizationsWaiting(db, clock.now())
    for (const id of turns.keys()) if (!busy.has(id) && !waiting.includes(id)) turns.delete(id)
    const [next] = waiting
      .filter((id) => (busy.get(id) ?? 0) < AT_ONCE_PER_ORGANIZATION)
      .toSorted((a, b) => (busy.get(a) ?? 0) - (busy.get(b) ?? 0) || (turns.get(a) ?? 0) - (turns.get(b) ?? 0))
    if (next === undefined) return false
    const question = await evaluations.claim(db, next, clock.now())
    if (question) begin(question)
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
