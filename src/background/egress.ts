/** Counts bytes downloaded from the embedded store, in memory, and writes the counts in batches. */
import { LRUCache } from 'lru-cache'
import type { EgressMeter } from '#ports/storage.ts'
import type { Clock } from '#core/clock.ts'
import { createFlusher } from '#core/flusher.ts'
import { Problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import * as downloadQuotas from '#model/plans/download-quota.ts'

const FLUSH_AFTER_MS = 500
/** How long the quota check of an organization is cached: range readers send many requests a second. */
const KNOWN_FOR_MS = 1_000
const MAX_KNOWN = 10_000

interface EgressRecorder extends EgressMeter {
  flush(): Promise<void>
  close(): Promise<void>
}

export function createEgressRecorder(db: Db, clock: Clock, onError: (error: unknown) => void): EgressRecorder {
  const waiting = new Map<string, number>()
  const known = new LRUCache<string, { untilMs: number; refusal: Promise<Problem | null> }>({ max: MAX_KNOWN })
  const drain = async (): Promise<void> => {
    for (const [organizationId, bytes] of waiting) {
      waiting.delete(organizationId)
      try {
        await db.transaction().execute((tx) => downloadQuotas.count(tx, organizationId, bytes, clock.now()))
      } catch (error) {
        waiting.set(organizationId, (waiting.get(organizationId) ?? 0) + bytes) // Counted by the next flush.
        throw error
      }
      known.delete(organizationId)
    }
  }
  const flusher = createFlusher({ drain, isEmpty: () => waiting.size === 0, afterMs: FLUSH_AFTER_MS, onError })
  const refusalOf = async (organizationId: string): Promise<Problem | null> => {
    try {
      await downloadQuotas.requireOpen(db, organizationId, clock.now())
      return null
    } catch (error) {
      if (error instanceof Problem) return error
      known.delete(organizationId)
      throw error
    }
  }
  return {
    async admit(organizationId) {
      const nowMs = clock.now().getTime()
      const cached = known.get(organizationId)
      const check = cached && cached.untilMs > nowMs ? cached : { untilMs: nowMs + KNOWN_FOR_MS, refusal: refusalOf(organizationId) }
      if (check !== cached) known.set(organizationId, check)
      const refusal = await check.refusal
      if (refusal) throw refusal
    },
    count(organizationId, bytes) {
      if (bytes === 0) return
      waiting.set(organizationId, (waiting.get(organizationId) ?? 0) + bytes)
      flusher.arm()
    },
    flush: flusher.flushAll,
    close: flusher.close,
  }
}
