/**
 * Searches that read indexes in their order and stop when a page is full. With these settings there is one plan left for them, the
 * streaming one: what a planner believes about the data no longer matters, and the plan need not be made anew for each search, which
 * would cost more than the search. They have connections of their own, set once: set for a transaction each time, they were most of
 * the round trips of a search.
 */
import type { Db } from './tables.ts'

export const STREAMING_TIMEOUT_MS = 5_000

const OFF = ['enable_sort', 'enable_incremental_sort', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_seqscan'].concat(
  'enable_material',
  'jit',
)

const assignments = [
  ...OFF.map((name) => `${name} = off`),
  'max_parallel_workers_per_gather = 0',
  'plan_cache_mode = force_generic_plan',
] as const

const statements = (how: 'set' | 'set local', timeoutMs: number): string =>
  [...assignments, `statement_timeout = ${timeoutMs}`].map((each) => `${how} ${each}`).join('; ')

/** For a connection that does nothing else. */
export const STREAMING_SESSION = statements('set', STREAMING_TIMEOUT_MS)
/** For one transaction on any connection. */
export const streamingTransaction = (timeoutMs: number): string => statements('set local', timeoutMs)

const streaming = new WeakMap<Db, Db>()

/** The connections of a database that are kept for this; null where there are none, as within a transaction. */
export const streamingOf = (db: Db): Db | null => streaming.get(db) ?? null
export const keepStreaming = (db: Db, own: Db): void => void streaming.set(db, own)
