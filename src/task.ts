/** The contract of background work: `<verb>.task.ts` in its domain. */
import type { Static, TSchema } from 'typebox'
import type { EventType } from '#core/event-types.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Services } from './context.ts'
import type { Change, Produces, TaskContract, Tasks } from './effects.ts'

export interface TaskContext extends Services {
  readonly db: Db
  /** Public URL of the service, without a trailing slash. */
  readonly baseUrl: string
  /** Of this run of the task. */
  readonly invocationId: string
  readonly signal: AbortSignal
  /** Changes what belongs to one organization, as the platform itself: what the task declares, and its audit entry. */
  change<T>(organizationId: string, work: (change: Change) => Promise<T>): Promise<T>
  tasks(tx: Tx): Tasks
}

export interface TaskTerms<D extends TSchema = TSchema> extends TaskContract<D> {
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
export function task<D extends TSchema>(terms: TaskTerms<D>) {
  return {
    handle: (run: (context: TaskContext, data: Static<D>) => Promise<void>) => Object.freeze({ ...terms, run }),
  }
}

// The registry erases the types; the worker earns them back by validating.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyTask = TaskTerms<any> & { run(context: TaskContext, data: any): Promise<void> }
