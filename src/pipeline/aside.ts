import type { Clock } from '#core/clock.ts'
import { EVENT_TYPES, type EventType } from '#core/event-types.ts'
import { newId } from '#core/ids.ts'
import { SERVICE } from '#core/principal.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as auditLog from '#model/audit.ts'
import type { Aside, Jobs } from '#operation.ts'
import { openEvents } from './events.ts'

const EVERY_EVENT = EVENT_TYPES.map(({ type }) => type as EventType)

/** What the platform does by itself: one transaction with its events and an audit entry, under an invocation of its own. */
export function createAside(db: Db, clock: Clock, jobs: (tx: Tx) => Jobs): Aside {
  return async (organizationId, name, work) => {
    const invocationId = newId()
    const startedAtMs = performance.now()
    const { events, write } = openEvents({ id: name as `${string}.${string}` }, EVERY_EVENT)
    return await db.transaction().execute(async (tx) => {
      const answer = await work({ tx, clock, invocationId, events, jobs: jobs(tx) })
      const now = clock.now()
      await write(tx, { organizationId, invocationId, now })
      await auditLog.write(tx, [{ invocationId, organizationId, principalKind: SERVICE.kind, principalId: SERVICE.id, userId: null, apiKeyId: null, operation: name, inputHash: null, status: 200, durationMs: Math.round(performance.now() - startedAtMs), artifacts: [], at: now }])
      return answer
    })
  }
}
