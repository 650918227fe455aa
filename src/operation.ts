/** The contract every operation signs. Read this file first. */
import type { Static, TSchema } from 'typebox'
import type { RasterService } from './ports/raster.ts'
import type { Storage } from './ports/storage.ts'
import type { Clock } from '#core/clock.ts'
import type { EventType } from '#core/event-types.ts'
import type { Payments } from './ports/payments.ts'
import type { Principal } from '#core/principal.ts'
import type { GrantScope } from './access/share-grant.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { AnyJob, JobData } from './task.ts'
import type { Books } from './model/money/books.ts'
import type { ShareLink } from './model/sharing/share-link.ts'
import type { CountedMeter } from './model/plans/usage.ts'

export type Tier = 'read' | 'compute' | 'external_spend' | 'share_export' | 'destructive'
export type Scope = `${string}:${'read' | 'write' | 'process' | 'destroy'}`
export type Artifact = 'order' | 'item' | 'asset' | 'processing_job' | 'report' | 'share_link' | 'collection' | 'project'
export type RawKind = 'bytes' | 'xml' | 'ndjson'

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

export interface Jobs {
  /** Queues background work in the caller's transaction: it exists if and only if the transaction commits. */
  enqueue<J extends AnyJob>(job: J, data: JobData<J>): Promise<void>
  /** The same for work of another domain, which checks its data itself when it runs. */
  enqueueByName(name: string, data: object): Promise<void>
}

/** Commits something as the platform itself, in a transaction and under an audit entry of its own, whatever becomes of the call around it. */
export type Aside = <T>(organizationId: string, name: string, work: (books: Books) => Promise<T>) => Promise<T>

/** Which openings count towards the limit of a link: every one, as for who asks to be let in, or failed ones, as for the tiles of who was. */
export type Attempts = 'all' | 'failed'

/** Share links, opened anew on every call: revocation, expiry and retention count at once. */
export interface Shares {
  hashPassword(password: string): Promise<string>
  /** Reads what a visitor is shown, a few visitors at a time. */
  inTurn<T>(read: () => Promise<T>): Promise<T>
  /** With the link's own token, or with a grant in its place, which needs no password. Whatever does not open it is one and the same 401. */
  open(token: string, password: string, counted?: Attempts): Promise<OpenedShare>
}

export interface OpenedShare {
  readonly link: ShareLink
  /** All of the link for a password; what it was signed for with a grant. */
  readonly scope: GrantScope
  /** Signs a grant that stands for the password: bound to it, to the link and to `scope`, and short-lived. */
  sign(scope: GrantScope, lifetimeSeconds: number): Promise<{ grant: string; expiresAt: Date }>
  /** Counts this opening of the link. */
  count(): Promise<void>
}

/** Counts without waiting; written together soon after. What a limit depends on is counted in its transaction instead. */
export interface Usage {
  /** Adds to a meter of an organization, 1 unless said otherwise. Every invocation counts as an API call by itself. */
  record(organizationId: string, meter: CountedMeter, amount?: number): void
  /** An item was used: tiles, downloads, values. It stays out of the archive for that. */
  touch(itemSeq: number): void
}

/** What every stage may see. Reads go through `db`; nothing here is global. */
export interface Context {
  readonly principal: Principal
  readonly db: Db
  readonly clock: Clock
  readonly baseUrl: string
  readonly invocationId: string
  /** The caller's key, or the invocation's own id: what keys an effect outside the database. */
  readonly idempotencyKey: string
  /** Entity tags that the caller has already; a raw operation may answer 304. */
  readonly ifNoneMatch: string | null
  readonly raster: RasterService
  readonly storage: Storage
  /** The card processor; null where no cards are taken. */
  readonly payments: Payments | null
  readonly aside: Aside
  /** Another operation with the check of its input, for the one that runs what was asked for earlier. */
  readonly operationOf: (id: string) => { operation: AnyOperation; validate: (input: unknown) => unknown } | null
  readonly shares: Shares
  readonly usage: Usage
  readonly signal: AbortSignal
  /** Names the organization that this call counts for, where it is not the caller's own (a guest, staff, a new one, a share). */
  attributeTo(organizationId: string): void
}

/** `execute` of a writing tier: the transaction replaces `db`, so that no query can slip outside it. */
export interface WriteContext extends Omit<Context, 'db'> {
  readonly tx: Tx
  readonly lineage: Lineage
  readonly events: Events
  readonly jobs: Jobs
}

/** What a raw operation answers with: bytes or XML of some media type. */
export interface RawReply {
  readonly status?: number
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
}

/** What the world may know of an operation: client, command line and OpenAPI are generated from this half. */
export interface Contract<
  I extends TSchema = TSchema,
  O extends TSchema = TSchema,
  T extends Tier = Tier,
  R extends RawKind | 'json' = RawKind | 'json',
> {
  readonly id: `${string}.${string}`
  readonly scope: Scope
  readonly tier: T
  readonly input: I
  /** For `ndjson`, the schema of one line. Bytes and XML have none to check. */
  readonly output: O
  readonly raw?: R
  /** Media type of a JSON answer when it is a dialect, for example `application/geo+json`. */
  readonly mediaType?: string
  readonly produces?: readonly Produces[]
  readonly events?: readonly EventType[]
  readonly idempotent?: true
  readonly public?: true
  /** Shown in the reference; a test holds both halves against the schemas. */
  readonly example: { readonly input: Static<I>; readonly output?: Static<O> }
}

type Answer<O, R> = R extends 'ndjson' ? AsyncIterable<O> : R extends 'bytes' | 'xml' ? RawReply : O

/** What the pipeline runs: stage 4, then the two halves of stage 6. */
export interface Handler<I, A, T extends Tier, F, P> {
  /** Stage 4, domain checks: reads only; what it finds is handed on. */
  check?(context: Context, input: I): Promise<F>
  /** Stage 6a: slow work outside, no transaction open. An effect there is keyed by `idempotencyKey`. */
  prepare?(context: Context, input: I, facts: F): Promise<P>
  /** Stage 6b: a read, or one short transaction that carries stages 7 and 8 too. */
  execute(context: T extends 'read' ? Context : WriteContext, input: I, facts: F, prepared: P): Promise<A>
}

export function operation<I extends TSchema, O extends TSchema, const T extends Tier, const R extends RawKind | 'json' = 'json'>(
  contract: Contract<I, O, T, R>,
) {
  return {
    handle: <F = void, P = void>(handler: Handler<Static<I>, Answer<Static<O>, R>, T, F, P>) =>
      Object.freeze({ ...contract, ...handler }) as AnyOperation,
  }
}

// The registry erases the types; the pipeline earns them back by validating.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyOperation = Contract & Handler<any, any, any, any, any>
