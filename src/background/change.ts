import type { Clock } from '#core/clock.ts'
import { EVENT_TYPES, type EventType } from '#core/event-types.ts'
import { newId } from '#core/ids.ts'
import { SERVICE } from '#core/principal.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Change, Commit, Tasks } from '#effects.ts'
import * as audit from '#model/platform/audit.ts'
import { openEvents } from '#pipeline/events.ts'
import { openProvenance } from '#pipeline/provenance.ts'
import type { TaskTerms } from '#task.ts'

/** What a transaction of the platform itself needs. */
interface ChangePlatform {
  readonly db: Db
  readonly clock: Clock
  readonly tasks: (tx: Tx) => Tasks
  /** Called after each commit, with the organization whose data has changed. */
  readonly committed: (organizationId: string) => Promise<void>
}

type Declared = Pick<TaskTerms, 'produces' | 'events'> & { name: string }

const EVERY_EVENT = EVENT_TYPES.map(({ type }) => type as EventType)

/** Stages 5 to 9 for work without a caller: lineage, events and the audit entry commit with the change, or none of them does. */
export function changer({ db, clock, tasks, committed }: ChangePlatform, { name, produces, events }: Declared) {
  return async <T>(organizationId: string, work: (change: Change) => Promise<T>): Promise<T> => {
    const startedAtMs = performance.now()
    const declared = { id: name, ...(produces ? { produces } : {}), ...(events ? { events } : {}) }
    const provenance = openProvenance(declared)
    const pending = openEvents(declared)
    const invocationId = newId()
    const result = await db.transaction().execute(async (tx) => {
      const value = await work({ tx, clock, invocationId, lineage: provenance.lineage, events: pending.events, tasks: tasks(tx) })
      const owner = { organizationId, invocationId, now: clock.now() }
      await provenance.seal(tx, owner)
      await pending.write(tx, owner)
      await audit.write(tx, [
        {
          invocationId,
          organizationId,
          operation: name,
          principalKind: SERVICE.kind,
          principalId: SERVICE.id,
          userId: null,
          apiKeyId: null,
          inputHash: null,
          status: 200,
          durationMs: Math.round(performance.now() - startedAtMs),
          artifacts: provenance.artifacts(),
          at: owner.now,
          calls: 1,
          subject: null,
        },
      ])
      return value
    })
    await committed(organizationId)
    return result
  }
}

/** The same for a change during a call that must not depend on it; there is no contract to declare its events in. */
export function createCommit(platform: ChangePlatform): Commit {
  return (organizationId, name, work) => changer(platform, { name, events: EVERY_EVENT })(organizationId, work)
}
