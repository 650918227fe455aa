import type { Clock } from '#core/clock.ts'
import { EVENT_TYPES, type EventType } from '#core/event-types.ts'
import { newId } from '#core/ids.ts'
import { SERVICE } from '#core/principal.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { AnyJob, Change } from '#task.ts'
import * as audit from '#model/platform/audit.ts'
import type { Aside, Jobs } from '#operation.ts'
import { openEvents } from '#pipeline/events.ts'
import { openProvenance } from '#pipeline/provenance.ts'

export interface Grounds {
  db: Db
  clock: Clock
  jobs: (tx: Tx) => Jobs
}

type Declared = Pick<AnyJob, 'name' | 'produces' | 'events'>

const EVERY_EVENT = EVENT_TYPES.map(({ type }) => type as EventType)

/** Stages 5 to 9 for work that nobody called: lineage, events and the audit commit with the change, or none of them does. */
export function changer({ db, clock, jobs }: Grounds, { name, produces, events }: Declared) {
  return async <T>(organizationId: string, work: (change: Change) => Promise<T>): Promise<T> => {
    const startedAtMs = performance.now()
    const declared = { id: name, ...(produces ? { produces } : {}), ...(events ? { events } : {}) }
    const provenance = openProvenance(declared)
    const pending = openEvents(declared)
    const invocationId = newId()
    return await db.transaction().execute(async (tx) => {
      const result = await work({ tx, lineage: provenance.lineage, events: pending.events, jobs: jobs(tx), invocationId })
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
        },
      ])
      return result
    })
  }
}

/** The same for a change beside a call, which has no contract to declare its events in. */
export function createAside(grounds: Grounds): Aside {
  return (organizationId, name, work) =>
    changer(grounds, { name: name as `${string}.${string}`, events: EVERY_EVENT })(organizationId, (change) =>
      work({ ...change, clock: grounds.clock }),
    )
}
