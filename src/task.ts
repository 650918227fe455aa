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
  /** Invocation ID of this run. */
  readonly invocationId: string
  readonly signal: AbortSignal
  /** Opens a change for one organization, as the platform itself, with the effects that the task declares and an audit entry. */
  change<T>(organizationId: string, work: (change: Change) => Promise<T>): Promise<T>
  tasks(tx: Tx): Tasks
}

export interface TaskTerms<D extends TSchema = TSchema> extends TaskContract<D> {
  /** Cron expression in UTC for work that runs on a schedule; its data must then allow `{}`. */
  readonly schedule?: string
  readonly retryLimit?: number
  readonly timeoutSeconds?: number
  /** Maximum concurrent runs in one process; without it, runs are batched, and a batch waits for its slowest. */
  readonly concurrency?: number
  /** The lineage and events of its changes, declared as for an operation. */
  readonly produces?: readonly Produces[]
  readonly events?: readonly EventType[]
}

/** Delivery is at least once: a handler makes its change with a conditional UPDATE, and zero rows mean that it was done before. */
export function task<D extends TSchema>(terms: TaskTerms<D>) {
  return {
    handle: (run: (context: TaskContext, data: Static<D>) => Promise<void>) => Object.freeze({ ...terms, run }),
  }
}

// The registry erases the types; the worker restores them by validation.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyTask = TaskTerms<any> & { run(context: TaskContext, data: any): Promise<void> }
