/** The interface that every operation implements. Read this file first. */
import type { Static, TSchema } from 'typebox'
import type { EventType } from '#core/event-types.ts'
import type { Principal } from '#core/principal.ts'
import type { Received } from '#core/shapes.ts'
import type { Db } from '#db/tables.ts'
import type { Services } from './context.ts'
import type { Change, Produces } from './effects.ts'

export type Tier = 'read' | 'compute' | 'external_spend' | 'share_export' | 'destructive'
type Scope = `${string}:${'read' | 'write' | 'process' | 'destroy'}`
type RawKind = 'bytes' | 'xml' | 'ndjson'

/** What every stage receives. Reads use `db`; nothing here is global. */
export interface Context extends Services {
  readonly principal: Principal
  readonly db: Db
  /** Public URL of the service, without a trailing slash. */
  readonly baseUrl: string
  readonly invocationId: string
  /** The caller's idempotency key, or the invocation ID: the key for effects outside the database. */
  readonly idempotencyKey: string
  /** Entity tags that the caller has already; a raw operation can return 304. */
  readonly ifNoneMatch: string | null
  readonly signal: AbortSignal
  /** Sets the organization that this call counts for, if it is not the caller's own (a guest, staff, a new one, a share). */
  attributeTo(organizationId: string): void
  /**
   * Runs another operation on behalf of a principal, as part of this call: scope, input, checks and preparation now, the change
   * later in this call's transaction. Null: there is no such operation, or the principal lacks its scope.
   */
  runAs(principal: Principal, operationId: string, input: unknown): Promise<PreparedRun | null>
  /**
   * What a call by the caller would cost now, in credits, from the operation that estimates it. Null: no operation estimates it. An
   * input that has no price is rejected as the call itself would be.
   */
  priceOf(operationId: string, input: object): Promise<number | null>
  /** The tier and the input validation of another operation; null if it does not exist. */
  contractOf(operationId: string): { readonly tier: Tier; validate(input: unknown): unknown } | null
}

/** The context of `execute` in a writing tier: the transaction replaces `db`, so that no query can bypass it. */
export interface WriteContext extends Omit<Context, 'db'>, Change {}

/** An operation that was checked and prepared, and waits for its transaction. */
export interface PreparedRun {
  execute(context: WriteContext): Promise<unknown>
}

/** The response of a raw operation: bytes or XML of some media type. */
export interface RawReply {
  readonly status?: number
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
}

/** The public half of an operation: the client, the command line and the OpenAPI document are generated from it. */
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
  /** For `ndjson`, the schema of one line. Not used for bytes and XML. */
  readonly output: O
  readonly raw?: R
  /** Possible media types of bytes, for example image formats. */
  readonly mediaTypes?: readonly string[]
  /** Media type of a JSON response that has its own, for example `application/geo+json`. */
  readonly mediaType?: string
  readonly produces?: readonly Produces[]
  readonly events?: readonly EventType[]
  /** Its idempotency keys belong to the organization, and `permit` decides who gets a stored response. Other keys belong to the caller. */
  readonly idempotent?: true
  readonly public?: true
  /** Registered workers can call it. They can call nothing else, even where their scope would match. */
  readonly callableByWorkers?: true
  /** It changes what a credential can access (keys, members, roles, projects): it responds once no process uses what it cached of that. */
  readonly changesAccess?: T extends 'read' ? never : true
  /** Can read from a replica of the database: a search, a list or a lookup that only queries `db` and `layers`, and streams nothing. */
  readonly readsReplica?: T extends 'read' ? true : never
  /** If the standard body limit of 256 KiB is not enough. Larger bodies are parsed in a thread. */
  readonly maxBodyBytes?: number
  /** Shown in the reference; a test validates it against the schemas. Fields with a default can be omitted, as by a caller. */
  readonly example: { readonly input: Static<I>; readonly output?: Static<O> }
}

type Output<O, R> = R extends 'ndjson' ? AsyncIterable<O> : R extends 'bytes' | 'xml' ? RawReply : O

/** What the pipeline runs: the two parts of stage 4, then the two parts of stage 6. */
interface Handler<I, A, T extends Tier, F, P, W> {
  /**
   * Stage 4, who can call: role and membership, never the state of a resource. It runs before the idempotency key is claimed, so
   * that nobody receives a response that belongs to someone else, and a rejected call does not use up its key. Every idempotent
   * operation has it.
   */
  permit?(context: Context, input: I): Promise<W>
  /** Stage 4, domain checks: only reads; the return value is passed on. */
  check?(context: Context, input: I, permitted: W): Promise<F>
  /** Stage 6a: slow work outside the database, with no transaction open. Effects there use `idempotencyKey`. */
  prepare?(context: Context, input: I, facts: F): Promise<P>
  /** Stage 6b: a read, or one short transaction that includes stages 7 and 8. */
  execute(context: T extends 'read' ? Context : WriteContext, input: I, facts: F, prepared: P): Promise<A>
  /**
   * For images that maps read by the hundred: what is shown, such as the ID of the item, without secrets. Successful calls of one caller
   * with the same subject share one audit entry per minute.
   */
  auditSubject?(input: I, facts: F): string
  /**
   * After the transaction of a write has committed: waits a moment, for example for a job that finishes quickly. Its result
   * replaces the response, for retries too; a retry during this time waits.
   */
  afterwards?(context: Context, input: I, answer: A): Promise<A>
}

export function operation<I extends TSchema, O extends TSchema, const T extends Tier, const R extends RawKind | 'json' = 'json'>(
  contract: Contract<I, O, T, R>,
) {
  return {
    handle: <F = void, P = void, W = void>(handler: Handler<Received<I>, Output<Static<O>, R>, T, F, P, W>) =>
      Object.freeze({ ...contract, ...handler }) as AnyOperation,
  }
}

// The registry erases the types; the pipeline restores them by validation.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyOperation = Contract & Handler<any, any, any, any, any, any>
