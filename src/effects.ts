/**
 * The effects of a change: lineage, events, background work and usage. Lineage, events and tasks commit with the change, or none
 * of them does.
 */
import type { Static, TSchema } from 'typebox'
import type { Clock } from '#core/clock.ts'
import type { EventType } from '#core/event-types.ts'
import type { CountedMeter } from '#core/meters.ts'
import type { Artifact } from '#core/vocabulary.ts'
import type { Tx } from '#db/tables.ts'

/** `kind:relation>origin|origin…`, as in the operation table; without an origin the artifact is the root of its lineage. */
export type Produces = `${Artifact}:${string}`

/** Lineage of the artifacts that a call creates. It is written in the call's transaction, or the call fails. */
export interface Lineage {
  /** `projectId` is the project of the artifact if it differs from that of its origin, as for a copy into another project. */
  record(kind: Artifact, id: string, relation: string, origin?: { kind: Artifact; id: string }, projectId?: string): void
  /** Declares that this call created nothing, for example because it was completed before. */
  nothingProduced(): void
}

export interface Events {
  emit(type: EventType, entityId: string, data: Record<string, unknown>): void
}

/** The name and the data of background work. It is in the model folder that enqueues it; the handler is in its domain. */
export interface TaskContract<D extends TSchema = TSchema> {
  readonly name: `${string}.${string}`
  readonly data: D
}

export const taskContract = <D extends TSchema>(name: TaskContract['name'], data: D): TaskContract<D> => Object.freeze({ name, data })

export interface Tasks {
  /** Enqueues background work in the caller's transaction: it exists if and only if the transaction commits. */
  enqueue<D extends TSchema>(task: TaskContract<D>, data: Static<D>, options?: { readonly afterSeconds?: number }): Promise<void>
}

/** Counts without waiting, and writes in batches. What a limit depends on is counted in its transaction instead. */
export interface Usage {
  /** Adds to a meter of an organization, by default 1. API calls are counted automatically. */
  record(organizationId: string, meter: CountedMeter, amount?: number): void
  /** Records that an item was used (tiles, downloads, values), which delays its archival. */
  touch(itemSeq: number): void
}

/** One short transaction with its effects: rows, lineage, events and tasks, all or nothing. */
export interface Change {
  readonly tx: Tx
  readonly clock: Clock
  readonly invocationId: string
  readonly lineage: Lineage
  readonly events: Events
  readonly tasks: Tasks
}

/** Commits a change as the platform itself, with its own audit entry, whatever happens to the surrounding call. */
export type Commit = <T>(organizationId: string, name: string, work: (change: Change) => Promise<T>) => Promise<T>
