/** The contract of background work: `<verb>.job.ts` in its domain. */
import type { Static, TSchema } from 'typebox'
import type { Clock } from '#core/clock.ts'
import type { Payments } from '#core/payments.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Aside, Jobs } from '#operation.ts'

export interface JobContext {
  readonly db: Db
  readonly clock: Clock
  jobs(tx: Tx): Jobs
  /** The card processor; null where no cards are taken. */
  readonly payments: Payments | null
  /** Changes with events belong in here: one transaction, seen in the audit under the job's name. */
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
