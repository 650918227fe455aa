/**
 * Search of an organization's items. The usual one, newest first within a box, reads the cells that the box touches as a
 * merge of ordered index scans and stops when the page is full: it never sorts and needs no statistics. See ADR 11.
 */
import { sql } from 'kysely'
import { problem } from '#core/problem.ts'
import { partsFor, VARIOUS } from '#db/prepared.ts'
import { listed } from '#db/row.ts'
import { STREAMING_TIMEOUT_MS, streamingOf, streamingTransaction } from '#db/streaming.ts'
import type { Db } from '#db/tables.ts'
import { ASSETS, MAX_ASSET_BYTES } from './asset-page.ts'
import { all, collated, type Cursor } from './item-filter.ts'
import { MAX_PAGE_BYTES, pageTooHeavy } from './item-metadata.ts'
import * as item from './item-read.ts'
import { maxCountedRows, mayTouch, ordersOf, predicatesOf, streamOf, type Search, type Stream } from './item-stream.ts'

export type { Search } from './item-stream.ts'
import type { SearchMemory } from './search-memory.ts'

/** With its assets where they were asked for, to be read by `assetsIn`. */
type FoundItem = item.Item & { assetList: string | null }

interface SearchResult {
  items: FoundItem[]
  /** Null where nobody asked, or where it was to be cheap and is not. */
  matched: number | null
  /** True when `matched` is an estimate: beyond `MAX_EXACT_COUNT` nothing is counted out. */
  isEstimated: boolean
  /** Whether no other page follows. */
  isLast: boolean
  /** Where a page that ends with the item would go on, for each. */
  cursors: readonly Cursor[]
}

export const MAX_EXACT_COUNT = 1_001

/** One item more than the page holds tells whether another page follows. */
export async function search(db: Db, memory: SearchMemory, wanted: Search, timeoutMs = STREAMING_TIMEOUT_MS): Promise<SearchResult> {
  const stream = await streamOf(db, memory, wanted)
  return await bounded(db, stream, timeoutMs, async (session) => {
    const rows = await readPage(session, wanted, stream)
    const light = Math.min(
      wanted.limit,
      beyond(rows, ({ bytesSoFar }) => bytesSoFar > MAX_PAGE_BYTES),
    )
    const read = Math.min(
      light,
      beyond(rows, ({ assetBytes }) => assetBytes > MAX_ASSET_BYTES),
    )
    const isCut = read < Math.min(rows.length, wanted.limit)
    if (isCut && (!wanted.mayEndEarly || read === 0)) throw pageTooHeavy(read)
    const isLast = read === rows.length
    const counted = wanted.counting === 'none' ? UNCOUNTED : await countOf(session, wanted, stream, { read, found: rows.length })
    const items = rows.slice(0, read)
    return { items, ...counted, isLast, cursors: items.map(({ keys: values, seq }) => ({ values, seq })) }
  })
}

/** How many come before the first for which it is so. */
function beyond<T>(rows: readonly T[], isBeyond: (row: T) => boolean): number {
  const at = rows.findIndex(isBeyond)
  return at === -1 ? rows.length : at
}

type PageRow = FoundItem & { keys: Cursor['values']; bytesSoFar: number; assetBytes: number }

/** What goes beyond an answer is not read: the first row that would not fit is the last that comes. */
async function readPage(db: Db, wanted: Search, { page, prefix }: Stream): Promise<PageRow[]> {
  const keys = sql`json_build_array(${sql.join(ordersOf(wanted).map(collated))}) as keys`
  const rows = sql`select ${COLUMNS}, i.metadata_bytes, ${keys} ${page(wanted.limit + 1, wanted.offset)}`
  const weighed = sql`select * from (
      select *, sum(metadata_bytes) over (rows unbounded preceding) as "bytesSoFar" from (${rows}) as page
    ) as weighed where "bytesSoFar" - metadata_bytes <= ${sql.lit(MAX_PAGE_BYTES)}`
  const whole = wanted.withAssets
    ? sql`select * from (
        select weighed.*, own.list as "assetList", sum(octet_length(own.list)) over (rows unbounded preceding) as "assetBytes"
        from (${weighed}) as weighed, lateral (${ASSETS}) as own
      ) as full_rows where "assetBytes" - octet_length("assetList") <= ${sql.lit(MAX_ASSET_BYTES)}`
    : sql`select *, null as "assetList", 0 as "assetBytes" from (${weighed}) as bare`
  const { rows: read } = await sql<PageRow>`${prefix} ${whole} ${partsFor(wanted.limit)}`.execute(db)
  return read
}

/** What a caller drew may be more than PostgreSQL can compare: then nothing matches, and never more than was asked for. */
export async function searchPlace(db: Db, memory: SearchMemory, wanted: Search): Promise<SearchResult> {
  try {
    return await search(db, memory, wanted)
  } catch (error) {
    const isSpatial = wanted.shapes || wanted.bbox
    if (isSpatial && SPATIAL_FAILURE.test((error as { code?: string }).code ?? '')) return NOTHING
    throw error
  }
}

/** Data exceptions, and a shape that is larger than a value may be. */
const SPATIAL_FAILURE = /^(22|54)/
const UNCOUNTED = { matched: null, isEstimated: false }
const NOTHING: SearchResult = { items: [], matched: 0, isEstimated: false, isLast: true, cursors: [] }

/** Only which ones, uncounted: what a map asks for with every tile. */
export async function searchSeqs(db: Db, memory: SearchMemory, wanted: Search): Promise<number[]> {
  const stream = await streamOf(db, memory, wanted)
  return await bounded(db, stream, STREAMING_TIMEOUT_MS, async (session) => {
    const { rows } = await sql<{ seq: number }>`${stream.prefix} select i.seq ${stream.page(wanted.limit, wanted.offset)}`.execute(session)
    return rows.map(({ seq }) => seq)
  })
}

/** On a connection that is kept for this, else in one short read transaction; what takes too long is refused. */
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
    await sql`rollback`.execute(session).catch(() => {}) // A connection that is gone has nothing to undo.
    throw error
  }
}

const QUERY_CANCELED = '57014'
const ANEW = sql.raw(VARIOUS)
const COLUMNS = listed(item.COLUMNS, 'i')

async function countOf(
  db: Db,
  wanted: Search,
  stream: Stream,
  { read, found }: { read: number; found: number },
): Promise<Pick<SearchResult, 'matched' | 'isEstimated'>> {
  // The last page tells how many there are, unless it began behind the end.
  const isWhole = !wanted.after && read === found && (read > 0 || wanted.offset === 0)
  if (isWhole) return { matched: wanted.offset + read, isEstimated: false }
  const isCheap = wanted.counting === 'cheap'
  // Where a number is wanted only if it is cheap, whether it is comes first.
  if (isCheap && stream.candidates && (found > maxCountedRows(wanted) || (await isCutShort(db, wanted, stream)))) return UNCOUNTED
  const { rows } = await sql<{
    n: number
  }>`${stream.prefix} select count(*) as n from (select 1 ${stream.counted} limit ${MAX_EXACT_COUNT + 1}) few`.execute(db)
  const { n } = rows[0]!
  if (n <= MAX_EXACT_COUNT && (isCheap || !(await isCutShort(db, wanted, stream)))) return { matched: n, isEstimated: false }
  if (isCheap) return UNCOUNTED
  return { matched: Math.max(n, wanted.offset + read, await estimate(db, wanted)), isEstimated: true }
}

/** Whether there was more to look at than a count looks at. */
async function isCutShort(db: Db, wanted: Search, { candidates, prefix }: Stream): Promise<boolean> {
  if (!candidates) return false
  const { rows } = await sql`${prefix} select 1 ${candidates} offset ${maxCountedRows(wanted)} limit 1`.execute(db)
  return rows.length > 0
}

/** Runs of neighbours at even distances: cheap to read, and spread over everything that was ever added. */
const SAMPLE_RUNS = 40
const SAMPLE_RUN_LENGTH = 25
/** The largest projects stand for the rest of the organization. */
const MAX_SAMPLED_PROJECTS = 20

/** The share of matches in a sample, times the number of items, which the projects' counters know. */
async function estimate(db: Db, wanted: Search): Promise<number> {
  const scope =
    wanted.projectId === null
      ? sql`org_id = ${wanted.organizationId} and id <> all(${wanted.hiddenProjectIds}::uuid[])`
      : sql`id = ${wanted.projectId}`
  const { rows } = await sql<{ total: number; seen: number; matched: number }>`${wanted.query.length === 0 ? sql`` : ANEW}
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
      count(*) filter (where ${mayTouch(wanted)} and ${all(predicatesOf(wanted))}) as matched from sample i
  `.execute(db)
  const { total, seen, matched } = rows[0]!
  return seen === 0 ? 0 : Math.round((total * matched) / seen)
}
