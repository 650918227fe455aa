/**
 * Search of an organization's items. The usual one, newest first within a box, reads the cells that the box touches as a
 * merge of ordered index scans and stops when the page is full: it never sorts and needs no statistics. See ADR 11.
 */
import { sql } from 'kysely'
import { problem } from '#core/problem.ts'
import { partsFor, VARIOUS } from '#db/prepared.ts'
import { listed } from '#db/row.ts'
import type { Db } from '#db/tables.ts'
import { all, collated, type Cursor } from './item-filter.ts'
import { MAX_PAGE_BYTES, pageTooHeavy } from './item-metadata.ts'
import * as item from './item-read.ts'
import { maxCountedRows, ordersOf, predicatesOf, streamOf, type Search, type Stream } from './item-stream.ts'

export type { Search } from './item-stream.ts'

interface SearchResult {
  items: item.Item[]
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

const SEARCH_TIMEOUT_MS = 5_000

/** One item more than the page holds tells whether another page follows. */
export async function search(db: Db, wanted: Search, timeoutMs = SEARCH_TIMEOUT_MS): Promise<SearchResult> {
  const stream = await streamOf(db, wanted)
  return await bounded(db, stream, timeoutMs, async (session) => {
    const rows = await readPage(session, wanted, stream)
    const beyond = rows.findIndex(({ bytesSoFar }) => bytesSoFar > MAX_PAGE_BYTES)
    const fitting = beyond === -1 ? rows.length : beyond
    if (fitting < Math.min(rows.length, wanted.limit) && !wanted.mayEndEarly) throw pageTooHeavy(fitting)
    const items = rows.slice(0, Math.min(fitting, wanted.limit))
    const isLast = items.length === rows.length
    const counted = wanted.counting === 'none' ? UNCOUNTED : await countOf(session, wanted, stream, { read: items.length, isLast })
    return { items, ...counted, isLast, cursors: items.map(({ keys: values, seq }) => ({ values, seq })) }
  })
}

type PageRow = item.Item & { keys: Cursor['values']; bytesSoFar: number }

/** What goes beyond an answer is not read: the first row that would not fit is the last that comes. */
async function readPage(db: Db, wanted: Search, { from, order, prefix }: Stream): Promise<PageRow[]> {
  const keys = sql`json_build_array(${sql.join(ordersOf(wanted).map(collated))}) as keys`
  const page = sql`select ${COLUMNS}, i.metadata_bytes, ${keys} ${from} ${order} limit ${wanted.limit + 1} offset ${wanted.offset}`
  const { rows } = await sql<PageRow>`${prefix} select * from (
      select *, sum(metadata_bytes) over (rows unbounded preceding) as "bytesSoFar" from (${page}) as page
    ) as weighed where "bytesSoFar" - metadata_bytes <= ${sql.lit(MAX_PAGE_BYTES)} ${partsFor(wanted.limit)}`.execute(db)
  return rows
}

/** What a caller drew may be more than PostgreSQL can compare: then nothing matches, and never more than was asked for. */
export async function searchPlace(db: Db, wanted: Search): Promise<SearchResult> {
  try {
    return await search(db, wanted)
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
export async function searchSeqs(db: Db, wanted: Search): Promise<number[]> {
  const stream = await streamOf(db, wanted)
  return await bounded(db, stream, SEARCH_TIMEOUT_MS, async (session) => {
    const { rows } = await sql<{
      seq: number
    }>`${stream.prefix} select i.seq ${stream.from} ${stream.order} limit ${wanted.limit} offset ${wanted.offset}`.execute(session)
    return rows.map(({ seq }) => seq)
  })
}

/** One short read transaction, opened and set in one round trip; what takes too long is refused. */
async function bounded<T>(db: Db, { settings }: Stream, timeoutMs: number, work: (session: Db) => Promise<T>): Promise<T> {
  return await db.connection().execute(async (session) => {
    await sql`begin read only; set local statement_timeout = ${sql.lit(timeoutMs)}; ${settings}`.execute(session)
    try {
      const result = await work(session)
      await sql`commit`.execute(session)
      return result
    } catch (error) {
      await sql`rollback`.execute(session).catch(() => {}) // A connection that is gone has nothing to undo.
      if ((error as { code?: string }).code === QUERY_CANCELED)
        throw problem('bad-request', 'This search takes too long; narrow it by bbox, datetime, collections or type')
      throw error
    }
  })
}

const QUERY_CANCELED = '57014'
const ANEW = sql.raw(VARIOUS)
const COLUMNS = listed(item.COLUMNS, 'i')

async function countOf(
  db: Db,
  wanted: Search,
  stream: Stream,
  { read, isLast }: { read: number; isLast: boolean },
): Promise<Pick<SearchResult, 'matched' | 'isEstimated'>> {
  // The last page tells how many there are, unless it began behind the end.
  const isWhole = !wanted.after && isLast && (read > 0 || wanted.offset === 0)
  if (isWhole) return { matched: wanted.offset + read, isEstimated: false }
  const { rows } = await sql<{
    n: number
  }>`${stream.prefix} select count(*) as n from (select 1 ${stream.counted} limit ${MAX_EXACT_COUNT + 1}) few`.execute(db)
  const { n } = rows[0]!
  if (n <= MAX_EXACT_COUNT && !(await isCutShort(db, wanted, stream))) return { matched: n, isEstimated: false }
  if (wanted.counting === 'cheap') return UNCOUNTED
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
  const { rows } = await sql<{ total: number; seen: number; matched: number }>`${ANEW}
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
      count(*) filter (where ${all(predicatesOf(wanted))}) as matched from sample i
  `.execute(db)
  const { total, seen, matched } = rows[0]!
  return seen === 0 ? 0 : Math.round((total * matched) / seen)
}
