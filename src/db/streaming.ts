/**
 * Searches that read indexes in order and stop when a page is full. With these settings only the streaming plan remains: the planner's
 * statistics no longer matter, and searches need not be planned each time, which would cost more than the search. They have dedicated
 * connections that are configured once: settings per transaction were most of the round trips of a search.
 */
import { localSettings } from './sessions.ts'

export const STREAMING_TIMEOUT_MS = 5_000

const OFF = ['enable_sort', 'enable_incremental_sort', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'enable_seqscan'].concat(
  'enable_material',
  'jit',
)

/** For a dedicated connection, or for one transaction. */
export const streamingSettings = (timeoutMs: number): readonly (readonly [name: string, value: string])[] => [
  ...OFF.map((name) => [name, 'off'] as const),
  ['max_parallel_workers_per_gather', '0'],
  ['plan_cache_mode', 'force_generic_plan'],
  ['statement_timeout', String(timeoutMs)],
]

/** For one transaction on any connection. */
export const streamingTransaction = (timeoutMs: number): string => localSettings(streamingSettings(timeoutMs))
