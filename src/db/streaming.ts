/**
 * Searches that read indexes in order and stop when a page is full. With these settings only the streaming plan remains: the planner's
 * statistics no longer matter, and searches need not be planned each time, which would cost more than the search. They have dedicated
 * connections that are configured once: settings per transaction were most of the round trips of a search.
 */
import { Kysely } from 'kysely'
import type { Db, Tables } from './tables.ts'

export const STREAMING_TIMEOUT_MS = 5_000

const OFF = ['enable_sort', 'enable_incremental_sort', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_seqscan'].concat(
  'enable_material',
  'jit',
)
const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ...OFF.map((name) => [name, 'off'] as const),
  ['max_parallel_workers_per_gather', '0'],
  ['plan_cache_mode', 'force_generic_plan'],
]

/**
 * For a dedicated connection. Behind a pooler it may serve another client in the next transaction: there the server process differs from
 * the reported one, nothing is set, and no row is returned.
 */
export const streamingSession = (serverPid: number): string =>
  `select ${[...SETTINGS, ['statement_timeout', String(STREAMING_TIMEOUT_MS)]]
    .map(([name, value]) => `set_config('${name}', '${value}', false)`)
    .join(', ')} where pg_backend_pid() = ${serverPid}`

/** For one transaction on any connection. */
export const streamingTransaction = (timeoutMs: number): string =>
  [...SETTINGS, ['statement_timeout', String(timeoutMs)]].map(([name, value]) => `set local ${name} = ${value}`).join('; ')

/** A database with connections that are kept for this beside the others; null where there are none, as behind a pooler. */
export class StreamingDatabase extends Kysely<Tables> {
  streaming: Db | null = null
}

export const streamingOf = (db: Db): Db | null => (db instanceof StreamingDatabase ? db.streaming : null)
