/** When a process accepts traffic: once it has started, while what it depends on responds, and until it stops. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Probe } from '#background/readiness.ts'
import type { Config } from '#config.ts'
import { asPlatform } from '#core/tenant.ts'
import type { Database } from '#db/open.ts'
import type { Storage } from '#ports/storage.ts'

const PROBE_TIMEOUT_MS = 1_000
/** The object store may be far away and charge for requests. */
const STORAGE_TIMEOUT_MS = 3_000
const STORAGE_ROUNDS = 5

/** Where a process is between its start and its end. */
export class Phase {
  /** Why it is not ready; null while it serves. */
  reason: string | null = 'The service is starting'
  isDraining = false

  get isReady(): boolean {
    return this.reason === null
  }
}

export function probesOf({ db, silentMs }: Database, storage: Storage): Probe[] {
  /** One statement at a time: while the database does not answer, each would hold a connection. */
  let asked: Promise<unknown> | null = null
  const ask = (): Promise<unknown> =>
    (asked ??= asPlatform(() => sql`select 1`.execute(db)).finally(() => {
      asked = null
    }))
  return [
    {
      name: 'The database',
      label: 'database',
      timeoutMs: PROBE_TIMEOUT_MS,
      everyRounds: 1,
      // A busy process gets answers all the time; a probe would only wait for a connection.
      run: async () => silentMs() < PROBE_TIMEOUT_MS || (await ask()),
    },
    {
      name: 'The object store',
      label: 'object_store',
      timeoutMs: STORAGE_TIMEOUT_MS,
      everyRounds: STORAGE_ROUNDS,
      run: (signal) => storage.probe(signal),
    },
  ]
}

/**
 * Load balancers learn from `/ready` that a process is stopping, but only at their next checks. Until then it serves as usual, and
 * closes each connection with its response.
 */
export async function drain(phase: Phase, { drainSeconds, role }: Pick<Config, 'drainSeconds' | 'role'>): Promise<void> {
  phase.reason = 'The service is stopping'
  phase.isDraining = true
  if (role !== 'worker') await sleep(drainSeconds * 1_000)
}
