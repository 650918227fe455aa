/** The contract of background work: `<verb>.task.ts` in its domain. */
import type { Static, TSchema } from 'typebox'
import type { RasterService } from './ports/raster.ts'
import type { Storage } from './ports/storage.ts'
import type { Clock } from './core/clock.ts'
import type { EventType } from './core/event-types.ts'
import type { Payments } from './ports/payments.ts'
import type { Db, Tx } from './db/tables.ts'
import type { Aside, Events, Jobs, Lineage, Produces, Usage } from './operation.ts'

/** One short transaction of a job: the change, its lineage, its events, further work and its audit entry; or none of them. */
export interface Change {
  readonly tx: Tx
  readonly lineage: Lineage
  readonly events: Events
  readonly jobs: Jobs
  readonly invocationId: string
}

export interface JobContext {
  readonly db: Db
  readonly clock: Clock
  readonly raster: RasterService
  readonly storage: Storage
  readonly usage: Usage
  /** Changes what belongs to one organization, as the platform itself. */
  change<T>(organizationId: string, work: (change: Change) => Promise<T>): Promise<T>
  jobs(tx: Tx): Jobs
  /** The card processor; null where no cards are taken. */
  readonly payments: Payments | null
  readonly aside: Aside
  /** Of this run of the job. */
  readonly invocationId: string
  readonly signal: AbortSignal
}

export interface JobContract<D extends TSchema = TSchema> {
  readonly name: `${string}.${string}`
  readonly data: D
  /** Cron expression in UTC for work that recurs by itself; its data must then allow `{}`. */
  readonly schedule?: string
  readonly retryLimit?: number
  readonly timeoutSeconds?: number
  /** So many at once in one process, each by itself; else in batches that wait for their slowest. */
  readonly concurrency?: number
  /** What its changes may record and report, as an operation declares it. */
  readonly produces?: readonly Produces[]
  readonly events?: readonly EventType[]
}

/** Delivery is at least once: a handler makes its change by a conditional UPDATE, and zero rows means it was done before. */
export function job<D extends TSchema>(contract: JobContract<D>) {
  return {
    handle: (run: (context: JobContext, data: Static<D>) => Promise<void>) => Object.freeze({ ...contract, run }),
  }
}

export type Job<D extends TSchema = TSchema> = JobContract<D> & { run(context: JobContext, data: Static<D>): Promise<void> }
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyJob = JobContract<any> & { run(context: JobContext, data: any): Promise<void> }
export type JobData<J extends AnyJob> = Static<J['data']>
