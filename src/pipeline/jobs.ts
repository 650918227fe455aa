import type { RasterService } from '#adapters/raster/port.ts'
import type { Storage } from '#adapters/storage/port.ts'
import type { Clock } from '#core/clock.ts'
import { newId } from '#core/ids.ts'
import { SERVICE } from '#core/principal.ts'
import type { Queue } from '#db/queue.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { AnyJob, Change } from '#job.ts'
import * as audit from '#model/audit.ts'
import * as itemLayer from '#model/item-layer.ts'
import type { Jobs, Usage } from '#operation.ts'
import { openEvents } from './events.ts'
import { openProvenance } from './provenance.ts'
import { validatorOf } from './validate.ts'

const STANDARD_RETRY_LIMIT = 5
const STANDARD_TIMEOUT_SECONDS = 300

export interface JobPlatform {
  db: Db
  clock: Clock
  queue: Queue
  raster: RasterService
  storage: Storage
  usage: Usage
  onFault: (error: unknown, job: string) => void
}

export function enqueuer(queue: Queue): (tx: Tx) => Jobs {
  return (tx) => ({
    async enqueue(job, data) {
      if (!validatorOf(job.data).Check(data)) throw new Error(`${job.name} was queued with data that breaks its schema`)
      await queue.send(tx, job.name, data as object)
    },
  })
}

export async function declareJobs(queue: Queue, jobs: readonly AnyJob[]): Promise<void> {
  for (const job of jobs) await queue.declare(job.name, { retryLimit: job.retryLimit ?? STANDARD_RETRY_LIMIT, timeoutSeconds: job.timeoutSeconds ?? STANDARD_TIMEOUT_SECONDS })
}

export async function startWorkers(platform: JobPlatform, jobs: readonly AnyJob[]): Promise<void> {
  for (const job of jobs) {
    await platform.queue.work(job.name, (data, signal) => runJob(platform, job, data, signal), job.concurrency ? { concurrency: job.concurrency } : {})
    if (job.schedule) await platform.queue.schedule(job.name, job.schedule)
  }
}

export async function runJob(platform: JobPlatform, job: AnyJob, data: unknown, signal: AbortSignal): Promise<void> {
  const { db, clock, queue, raster, storage, usage } = platform
  try {
    if (!validatorOf(job.data).Check(data)) throw new Error(`${job.name} got data that breaks its schema`)
    await job.run({ db, clock, raster, storage, usage, jobs: enqueuer(queue), change: changer(platform, job), signal }, data)
  } catch (error) {
    platform.onFault(error, job.name)
    throw error
  } finally {
    itemLayer.forget(db)
  }
}

/** Stages 5 to 9 for work that nobody called: lineage, events and the audit commit with the change, or none of them does. */
function changer({ db, clock, queue }: JobPlatform, { name, produces, events }: AnyJob) {
  return async <T>(organizationId: string, work: (change: Change) => Promise<T>): Promise<T> => {
    const startedAtMs = performance.now()
    const declared = { id: name, ...(produces ? { produces } : {}), ...(events ? { events } : {}) }
    const provenance = openProvenance(declared)
    const pending = openEvents(declared)
    const invocationId = newId()
    return await db.transaction().execute(async (tx) => {
      const result = await work({ tx, lineage: provenance.lineage, events: pending.events, jobs: enqueuer(queue)(tx), invocationId })
      const owner = { organizationId, invocationId, now: clock.now() }
      await provenance.seal(tx, owner)
      await pending.write(tx, owner)
      await audit.write(tx, [{
        invocationId, organizationId, operation: name, principalKind: SERVICE.kind, principalId: SERVICE.id, userId: null, apiKeyId: null, inputHash: null,
        status: 200, durationMs: Math.round(performance.now() - startedAtMs), artifacts: provenance.artifacts(), at: owner.now,
      }])
      return result
    })
  }
}
