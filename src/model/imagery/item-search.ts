/**
 * Search for an organization's items. The usual search, newest first within a box, reads the cells that the box touches as a merge of
 * ordered index scans and stops when the page is full: it never sorts and needs no statistics. See ADR 11.
 */
import { sql } from 'kysely'
import { problem } from '#core/problem.ts'
import { partsFor, VARIOUS } from '#db/prepared.ts'
import { listed } from '#db/row.ts'
import { streamingOf } from '#db/connections.ts'
import { STREAMING_TIMEOUT_MS, streamingTransaction } from '#db/streaming.ts'
import type { Db } from '#db/tables.ts'
import { ASSETS, MAX_ASSET_BYTES } from './asset-page.ts'
import { all, collated, type Cursor } from './item-filter.ts'
import { MAX_PAGE_BYTES, pageTooHeavy } from './item-metadata.ts'
import * as items from './item-read.ts'
import { maxCountedRows, mayTouch, ordersOf, predicatesOf, streamOf, type Search, type Stream } from './item-stream.ts'

export type { Search } from './item-stream.ts'
import type { SearchMemory } from './search-memory.ts'

/** With its assets, if requested, to be read by `assetsIn`. */
type FoundItem = items.Item & { assetList: string | null }

interface SearchResult {
  items: FoundItem[]
  /** Null if not requested, or if only a cheap count was requested and it is not cheap. */
  matched: number | null
  /** True if `matched` is an estimate: beyond `MAX_EXACT_COUNT` nothing is counted exactly. */
  isEstimated: boolean
  /** True if this is the last page. */
  isLast: boolean
  /** For each item, the cursor of a page that ends with it. */
  cursors: readonly Cursor[]
}

export const MAX_EXACT_COUNT = 1_001

/** Reads one item more than the page holds, to know whether another page follows. */
export async function search(db: Db, memory: SearchMemory, criteria: Search, timeoutMs = STREAMING_TIMEOUT_MS): Promise<SearchResult> {
  const stream = await streamOf(db, memory, criteria)
  return await bounded(db, stream, timeoutMs, async (session) => {
    const rows = await readPage(session, criteria, stream)
    const light = Math.min(
      criteria.limit,
      beyond(rows, ({ bytesSoFar }) => bytesSoFar > MAX_PAGE_BYTES),
    )
    const read = Math.min(
      light,
      beyond(rows, ({ assetBytes }) => assetBytes > MAX_ASSET_BYTES),
    )
    const isCut = read < Math.min(rows.length, criteria.limit)
    if (isCut && (!criteria.mayEndEarly || read === 0)) throw pageTooHeavy(read)
    const isLast = read === rows.length
    const counted = criteria.counting === 'none' ? UNCOUNTED : await countOf(session, criteria, stream, { read, rowCount: rows.length })
    const page = rows.slice(0, read)
    return { items: page, ...counted, isLast, cursors: page.map(({ keys: values, seq }) => ({ values, seq })) }
  })
}

/** The number of rows before the first that satisfies the condition. */
function beyond<T>(rows: readonly T[], isBeyond: (row: T) => boolean): number {
  const at = rows.findIndex(isBeyond)
  return at === -1 ? rows.length : at
}

type PageRow = FoundItem & { keys: Cursor['values']; bytesSoFar: number; assetBytes: number }

/** Does not read more than fits in a response: the first row that would not fit is the last one returned. */
async function readPage(db: Db, criteria: Search, { page, prefix }: Stream): Promise<PageRow[]> {
  const keys = sql`json_build_array(${sql.join(ordersOf(criteria).map(collated))}) as keys`
  const rows = sql`select ${COLUMNS}, i.metadata_bytes, ${keys} ${page(criteria.limit + 1, criteria.offset)}`
  const weighed = sql`select * from (
      select *, sum(metadata_bytes) over (rows unbounded preceding) as "bytesSoFar" from (${rows}) as page
    ) as weighed where "bytesSoFar" - metadata_bytes <= ${sql.lit(MAX_PAGE_BYTES)}`
  const whole = criteria.withAssets
    ? sql`select * from (
        select weighed.*, own.list as "assetList", sum(octet_length(own.list)) over (rows unbounded preceding) as "assetBytes"
        from (${weighed}) as weighed, lateral (${ASSETS}) as own
      ) as full_rows where "assetBytes" - octet_length("assetList") <= ${sql.lit(MAX_ASSET_BYTES)}`
    : sql`select *, null as "assetList", 0 as "assetBytes" from (${weighed}) as bare`
  const { rows: read } = await sql<PageRow>`${prefix} ${whole} ${partsFor(criteria.limit)}`.execute(db)
  return read
}

/** A shape can be more than PostgreSQL can compare: then nothing matches. */
export async function searchPlace(db: Db, memory: SearchMemory, criteria: Search): Promise<SearchResult> {
  try {
    return await search(db, memory, criteria)
  } catch (error) {
    const isSpatial = criteria.shapes || criteria.bbox
    if (isSpatial && SPATIAL_FAILURE.test((error as { code?: string }).code ?? '')) return NOTHING
    throw error
  }
}

/** Data exceptions, and a shape that exceeds the maximum size of a value. */
const SPATIAL_FAILURE = /^(22|54)/
const UNCOUNTED = { matched: null, isEstimated: false }
const NOTHING: SearchResult = { items: [], matched: 0, isEstimated: false, isLast: true, cursors: [] }

/** Sequence numbers only, uncounted: what a map requests with every tile. */
export async function searchSeqs(db: Db, memory: SearchMemory, criteria: Search): Promise<number[]> {
  const stream = await streamOf(db, memory, criteria)
  return await bounded(db, stream, STREAMING_TIMEOUT_MS, async (session) => {
    const { rows } = await sql<{ seq: number }>`${stream.prefix} select i.seq ${stream.page(criteria.limit, criteria.offset)}`.execute(
      session,
    )
    return rows.map(({ seq }) => seq)
  })
}

/** On a dedicated connection if there is one, otherwise in a short read transaction; rejects what takes too long. */
async function bounded<T>(db: Db, { isStreaming }: Stream, timeoutMs: number, work: (session: Db) => Promise<T>): Promise<T> {
  const own = isStreaming && timeoutMs === STREAMING_TIMEOUT_MS ? streamingOf(db) : null
  try {
    return own
      ? await own.connection().execute(work)
      : await db.connection().execute(async (session) => await inTransaction(session, timeoutMs, isStreaming, work))
  } catch (error) {
    if ((error as { code?: string }).code === QUERY_CANCELED)
      throw problem('bad-request', 'This search takes too long; narrow it by bbox, datetime, collections or type')
    throw error
  }
}

async function inTransaction<T>(session: Db, timeoutMs: number, isStreaming: boolean, work: (session: Db) => Promise<T>): Promise<T> {
  const settings = isStreaming ? streamingTransaction(timeoutMs) : `set local statement_timeout = ${timeoutMs}`
  await sql.raw(`begin read only; ${settings}`).execute(session)
  try {
    const result = await work(session)
    await sql`commit`.execute(session)
    return result
  } catch (error) {
    await sql`rollback`.execute(session).catch(() => {}) // A closed connection has nothing to roll back.
    throw error
  }
}

const QUERY_CANCELED = '57014'
const ANEW = sql.raw(VARIOUS)
const COLUMNS = listed(items.COLUMNS, 'i')

async function countOf(
  db: Db,
  criteria: Search,
  stream: Stream,
  { read, rowCount }: { read: number; rowCount: number },
): Promise<Pick<SearchResult, 'matched' | 'isEstimated'>> {
  // The last page shows the total, unless it started behind the end.
  const isWhole = !criteria.after && read === rowCount && (read > 0 || criteria.offset === 0)
  if (isWhole) return { matched: criteria.offset + read, isEstimated: false }
  const isCheap = criteria.counting === 'cheap'
  // If only a cheap count was requested, check first whether it is cheap.
  if (isCheap && stream.candidates && (rowCount > maxCountedRows(criteria) || (await isCutShort(db, criteria, stream)))) return UNCOUNTED
  const { rows } = await sql<{
    n: number
  }>`${stream.prefix} select count(*) as n from (select 1 ${stream.counted} limit ${MAX_EXACT_COUNT + 1}) few`.execute(db)
  const { n } = rows[0]!
  if (n <= MAX_EXACT_COUNT && (isCheap || !(await isCutShort(db, criteria, stream)))) return { matched: n, isEstimated: false }
  if (isCheap) return UNCOUNTED
  return { matched: Math.max(n, criteria.offset + read, await estimate(db, criteria)), isEstimated: true }
}

/** Whether there were more rows to examine than a count examines. */
async function isCutShort(db: Db, criteria: Search, { candidates, prefix }: Stream): Promise<boolean> {
  if (!candidates) return false
  const { rows } = await sql`${prefix} select 1 ${candidates} offset ${maxCountedRows(criteria)} limit 1`.execute(db)
  return rows.length > 0
}

/** Runs of neighbouring rows at even distances: cheap to read, and spread over everything ever added. */
const SAMPLE_RUNS = 40
const SAMPLE_RUN_LENGTH = 25
/** The largest projects represent the whole organization. */
const MAX_SAMPLED_PROJECTS = 20

/** The share of matches in a sample, times the number of items from the projects' counters. */
async function estimate(db: Db, criteria: Search): Promise<number> {
  const scope =
    criteria.projectId === null
      ? sql`org_id = ${criteria.organizationId} and id <> all(${criteria.hiddenProjectIds}::uuid[])`
      : sql`id = ${criteria.projectId}`
  const { rows } = await sql<{ total: number; seen: number; matched: number }>`${criteria.query.length === 0 ? sql`` : ANEW}
    with scope as (
      select id, item_count, sum(item_count) over () as total from project where ${scope} and deleted_at is null and item_count > 0
        order by item_count desc limit ${MAX_SAMPLED_PROJECTS}
    ), ends as (
      select id, total, greatest(1, round(${SAMPLE_RUNS}::float8 * item_count / total))::int as runs,
        (select seq from item where project_id = scope.id and deleted_at is null order by seq limit 1) as first,
        (select seq from item where project_id = scope.id and deleted_at is null order by seq desc limit 1) as last
      from scope
    ), sample as (
      select i.* from ends, generate_series(0, ends.runs - 1) as run,
        lateral (select * from item where project_id = ends.id and deleted_at is null and seq >= first + ((last - first) * run) / runs
          order by seq limit ${SAMPLE_RUN_LENGTH}) i
    )
    select (select max(total) from ends)::bigint as total, count(*) as seen,
      count(*) filter (where ${mayTouch(criteria)} and ${all(predicatesOf(criteria))}) as matched from sample i
  `.execute(db)
  const { total, seen, matched } = rows[0]!
  return seen === 0 ? 0 : Math.round((total * matched) / seen)
}
