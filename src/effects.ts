/**
 * What a change brings along: its lineage, its events, the background work and the counts that follow from it. All of them
 * commit with the change, or none does.
 */
import type { Static, TSchema } from 'typebox'
import type { Clock } from '#core/clock.ts'
import type { EventType } from '#core/event-types.ts'
import type { CountedMeter } from '#core/meters.ts'
import type { Artifact } from '#core/vocabulary.ts'
import type { Tx } from '#db/tables.ts'

/** `kind:relation>origin|origin…`, as in the operation table; without an origin the artifact stands at the head of its line. */
export type Produces = `${Artifact}:${string}`

/** Lineage of what a call makes. It is written in the call's own transaction, or the call fails. */
export interface Lineage {
  /** `projectId` says where the artifact lies when that is not where its origin lies, as for a copy into another project. */
  record(kind: Artifact, id: string, relation: string, origin?: { kind: Artifact; id: string }, projectId?: string): void
  /** This call legitimately made nothing, for example because it had been completed before. */
  nothingProduced(): void
}

export interface Events {
  emit(type: EventType, entityId: string, data: Record<string, unknown>): void
}

/** What background work is called and what it is told. It stands in the model wing that queues it; the handler is its domain's. */
export interface TaskContract<D extends TSchema = TSchema> {
  readonly name: `${string}.${string}`
  readonly data: D
}

export const taskContract = <D extends TSchema>(name: TaskContract['name'], data: D): TaskContract<D> => Object.freeze({ name, data })

export interface Tasks {
  /** Queues background work in the caller's transaction: it exists if and only if the transaction commits. */
  enqueue<D extends TSchema>(task: TaskContract<D>, data: Static<D>, options?: { readonly afterSeconds?: number }): Promise<void>
}

/** Counts without waiting; written together soon after. What a limit depends on is counted in its transaction instead. */
export interface Usage {
  /** Adds to a meter of an organization, 1 unless said otherwise. Every invocation counts as an API call by itself. */
  record(organizationId: string, meter: CountedMeter, amount?: number): void
  /** An item was used: tiles, downloads, values. It stays out of the archive for that. */
  touch(itemSeq: number): void
}

/** One short transaction with its effects: the rows, their lineage, their events and further work; or none of them. */
export interface Change {
  readonly tx: Tx
  readonly clock: Clock
  readonly invocationId: string
  readonly lineage: Lineage
  readonly events: Events
  readonly tasks: Tasks
}

/** Commits a change as the platform itself, under an audit entry of its own name, whatever becomes of the call around it. */
export type Commit = <T>(organizationId: string, name: string, work: (change: Change) => Promise<T>) => Promise<T>
