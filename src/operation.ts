/** The contract every operation signs. Read this file first. */
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

/** What every stage may see. Reads go through `db`; nothing here is global. */
export interface Context extends Services {
  readonly principal: Principal
  readonly db: Db
  /** Public URL of the service, without a trailing slash. */
  readonly baseUrl: string
  readonly invocationId: string
  /** The caller's key, or the invocation's own id: what keys an effect outside the database. */
  readonly idempotencyKey: string
  /** Entity tags that the caller has already; a raw operation may answer 304. */
  readonly ifNoneMatch: string | null
  readonly signal: AbortSignal
  /** Names the organization that this call counts for, where it is not the caller's own (a guest, staff, a new one, a share). */
  attributeTo(organizationId: string): void
  /**
   * Another operation on somebody's behalf, as part of this call: its scope, input, checks and preparation now, its change
   * later in this call's transaction. Null: there is no such operation, or it is not theirs to run.
   */
  runAs(principal: Principal, operationId: string, input: unknown): Promise<PreparedRun | null>
  /**
   * What a call by the caller would cost now, in credits, by the operation that estimates it. Null: no operation estimates it. What
   * cannot be priced is rejected as the call itself would be.
   */
  priceOf(operationId: string, input: object): Promise<number | null>
  /** What another operation is, and what it would say to an input; null where there is none. */
  contractOf(operationId: string): { readonly tier: Tier; validate(input: unknown): unknown } | null
}

/** `execute` of a writing tier: the transaction replaces `db`, so that no query can slip outside it. */
export interface WriteContext extends Omit<Context, 'db'>, Change {}

/** An operation that waits for the transaction it runs in. */
export interface PreparedRun {
  execute(context: WriteContext): Promise<unknown>
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
  /** What bytes may be, for example the formats of a picture. */
  readonly mediaTypes?: readonly string[]
  /** Media type of a JSON answer when it is a dialect, for example `application/geo+json`. */
  readonly mediaType?: string
  readonly produces?: readonly Produces[]
  readonly events?: readonly EventType[]
  /** Its idempotency keys are the organization's, and `permit` decides who gets a repeated response. Other keys are their caller's. */
  readonly idempotent?: true
  readonly public?: true
  /** Registered workers can call it. They can call nothing else, even where their scope would match. */
  readonly callableByWorkers?: true
  /** It changes what a credential can access (keys, members, roles, projects): it responds once no process uses what it cached of that. */
  readonly changesAccess?: T extends 'read' ? never : true
  /** Where the usual 256 KiB of a body are not enough. What is larger than those is parsed beside the event loop. */
  readonly maxBodyBytes?: number
  /** Shown in the reference; a test holds both halves against the schemas. Defaulted fields may be left out of it, as by a caller. */
  readonly example: { readonly input: Static<I>; readonly output?: Static<O> }
}

type Answer<O, R> = R extends 'ndjson' ? AsyncIterable<O> : R extends 'bytes' | 'xml' ? RawReply : O

/** What the pipeline runs: stage 4 in two halves, then the two halves of stage 6. */
interface Handler<I, A, T extends Tier, F, P, W> {
  /**
   * Stage 4, who may call: role and membership, never the state of things. It runs before an idempotency key is looked at,
   * so that nobody is handed an answer that was somebody else's, and a refusal takes no key. Every idempotent operation has it.
   */
  permit?(context: Context, input: I): Promise<W>
  /** Stage 4, domain checks: reads only; what it finds is handed on. */
  check?(context: Context, input: I, permitted: W): Promise<F>
  /** Stage 6a: slow work outside, no transaction open. An effect there is keyed by `idempotencyKey`. */
  prepare?(context: Context, input: I, facts: F): Promise<P>
  /** Stage 6b: a read, or one short transaction that carries stages 7 and 8 too. */
  execute(context: T extends 'read' ? Context : WriteContext, input: I, facts: F, prepared: P): Promise<A>
  /**
   * After the transaction of a write has committed: what is worth waiting for a moment. Its answer goes out instead, and
   * to repeated requests too; whoever repeats it meanwhile waits.
   */
  afterwards?(context: Context, input: I, answer: A): Promise<A>
}

export function operation<I extends TSchema, O extends TSchema, const T extends Tier, const R extends RawKind | 'json' = 'json'>(
  contract: Contract<I, O, T, R>,
) {
  return {
    handle: <F = void, P = void, W = void>(handler: Handler<Received<I>, Answer<Static<O>, R>, T, F, P, W>) =>
      Object.freeze({ ...contract, ...handler }) as AnyOperation,
  }
}

// The registry erases the types; the pipeline earns them back by validating.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyOperation = Contract & Handler<any, any, any, any, any, any>
