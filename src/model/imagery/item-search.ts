/**
 * Search of an organization's items. The usual one, newest first within a box, reads the cells that the box touches as a
 * merge of ordered index scans and stops when the page is full: it never sorts and needs no statistics. See ADR 11.
 */
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Interval } from '#core/interval.ts'
import { problem } from '#core/problem.ts'
import type { ItemType } from '#core/vocabulary.ts'
import { VARIOUS } from '#db/prepared.ts'
import { listed } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import { boxesOf, cellsToRead, isWorld, stepsOf, type Bbox } from './footprint.ts'
import { all, duringInterval, orderBy, touchesBoxes, type Order } from './item-filter.ts'
import { requirePage } from './item-metadata.ts'
import * as item from './item-read.ts'

export interface Search {
  organizationId: string
  /** One project, or null for the whole organization without those that are hidden from the caller. */
  projectId: string | null
  hiddenProjectIds: readonly string[]
  bbox: Bbox | null
  interval: Interval | null
  collectionIds: readonly string[] | null
  type: ItemType | null
  query: readonly RawBuilder<SqlBool>[]
  /** Empty: newest first. */
  orders: readonly Order[]
  limit: number
  offset: number
}

interface SearchResult {
  items: item.Item[]
  matched: number
  /** True when `matched` is an estimate: beyond `MAX_EXACT_COUNT` nothing is counted out. */
  isEstimated: boolean
}

export const MAX_EXACT_COUNT = 1_001
const NEWEST_FIRST: readonly Order[] = [{ column: 'i.datetime', direction: 'desc', kind: 'time' }]

const SEARCH_TIMEOUT_MS = 5_000
/** Sets up to this size are read whole and sorted: cheaper than a walk over everything else of the organization. */
const SMALL_SET = 10_000

export async function search(db: Db, wanted: Search, timeoutMs = SEARCH_TIMEOUT_MS): Promise<SearchResult> {
  return await bounded(db, timeoutMs, async (tx) => {
    const stream = await streamOf(tx, wanted)
    const page = sql`select i.metadata_bytes ${stream.from} ${stream.order} limit ${wanted.limit} offset ${wanted.offset}`
    await requirePage(tx, wanted.organizationId, page)
    const { rows } =
      await sql<item.Item>`${ANEW} select ${COLUMNS} ${stream.from} ${stream.order} limit ${wanted.limit} offset ${wanted.offset}`.execute(
        tx,
      )
    return { items: rows, ...(await countOf(tx, wanted, stream, rows.length)) }
  })
}

/** Only which ones, uncounted: what a map asks for with every tile. */
export async function searchSeqs(db: Db, wanted: Search): Promise<number[]> {
  return await bounded(db, SEARCH_TIMEOUT_MS, async (tx) => {
    const stream = await streamOf(tx, wanted)
    const { rows } = await sql<{
      seq: number
    }>`${ANEW} select i.seq ${stream.from} ${stream.order} limit ${wanted.limit} offset ${wanted.offset}`.execute(tx)
    return rows.map(({ seq }) => seq)
  })
}

async function bounded<T>(db: Db, timeoutMs: number, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await db
      .transaction()
      .setAccessMode('read only')
      .execute(async (tx) => {
        await sql`set local statement_timeout = ${sql.lit(timeoutMs)}`.execute(tx)
        return await work(tx)
      })
  } catch (error) {
    if ((error as { code?: string }).code === QUERY_CANCELED)
      throw problem('bad-request', 'This search takes too long; narrow it by bbox, datetime, collections or type')
    throw error
  }
}

const QUERY_CANCELED = '57014'
const ANEW = sql.raw(VARIOUS)
const COLUMNS = listed(item.COLUMNS, 'i')

/** `from …` that yields each match once as `i`, and the order that it comes in or must be put into. */
interface Stream {
  from: RawBuilder<unknown>
  order: RawBuilder<unknown>
}

async function streamOf(tx: Tx, wanted: Search): Promise<Stream> {
  const predicates = predicatesOf(wanted)
  const scope =
    wanted.projectId === null ? sql<SqlBool>`i.org_id = ${wanted.organizationId}` : sql<SqlBool>`i.project_id = ${wanted.projectId}`
  const live = sql<SqlBool>`i.deleted_at is null`
  const small = await isSmall(tx, wanted)
  const boxes = wanted.bbox && !isWorld(wanted.bbox) ? boxesOf(wanted.bbox) : null
  const direction = directionOf(wanted.orders)
  if (!small && boxes && direction) return await mergedStream(tx, wanted, { boxes, direction, predicates: [live, ...predicates] })
  if (!small && !boxes && direction) return await orderedStream(tx, direction, all([scope, live, ...predicates]))
  const order = sql`order by ${orderBy(wanted.orders.length > 0 ? wanted.orders : NEWEST_FIRST)}`
  if (small || !boxes) return { from: sql`from item i where ${all([scope, live, ...predicates])}`, order }
  const { organizationId } = wanted
  const touched = sql`select distinct seq from item_cell where org_id = ${organizationId} and cell = any(${cellsToRead(boxes)}::integer[])
    and (${inSteps(boxes)})`
  return { from: sql`from (${touched}) k join item i on i.seq = k.seq where ${all([live, ...predicates])}`, order }
}

/** Newest or oldest first, and nothing else: what the indexes keep. */
function directionOf(orders: readonly Order[]): 'asc' | 'desc' | null {
  if (orders.length === 0) return 'desc'
  return orders.length === 1 && orders[0]!.column === 'i.datetime' ? orders[0]!.direction : null
}

function predicatesOf(wanted: Search): RawBuilder<SqlBool>[] {
  const boxes = wanted.bbox && !isWorld(wanted.bbox) ? boxesOf(wanted.bbox) : null
  return [
    ...(wanted.projectId === null ? [] : [sql<SqlBool>`i.project_id = ${wanted.projectId}`]),
    ...(wanted.hiddenProjectIds.length === 0 ? [] : [sql<SqlBool>`i.project_id <> all(${wanted.hiddenProjectIds}::uuid[])`]),
    ...(wanted.collectionIds ? [sql<SqlBool>`i.collection_id = any(${wanted.collectionIds}::uuid[])`] : []),
    ...(wanted.type ? [sql<SqlBool>`i.type = ${wanted.type}`] : []),
    ...(wanted.interval ? [duringInterval(wanted.interval)] : []),
    ...wanted.query,
    ...(boxes ? [touchesBoxes(boxes)] : wanted.bbox ? [sql<SqlBool>`i.footprint is not null`] : []),
  ]
}

/** Known without a scan: a project has a counter, and of a collection no more is counted than matters. */
async function isSmall(tx: Tx, { projectId, collectionIds }: Search): Promise<boolean> {
  const { rows } = await sql<{ project: number | null; collections: number | null }>`
    select (select item_count from project where id = ${projectId}) as project,
      case when ${collectionIds}::uuid[] is not null then
        (select count(*) from (select 1 from item where collection_id = any(${collectionIds}::uuid[])
          and deleted_at is null limit ${SMALL_SET + 1}) few)
      end as collections
  `.execute(tx)
  const { project, collections } = rows[0]!
  return (project ?? Infinity) <= SMALL_SET || (collections ?? Infinity) <= SMALL_SET
}

/** With these off there is one plan left, the streaming one; what a planner believes about the data no longer matters. */
async function fixPlan(tx: Tx): Promise<void> {
  await sql`
    set local enable_sort = off; set local enable_incremental_sort = off;
    set local enable_bitmapscan = off; set local enable_hashjoin = off;
    set local enable_mergejoin = off; set local enable_seqscan = off;
    set local enable_material = off; set local max_parallel_workers_per_gather = 0; set local jit = off
  `.execute(tx)
}

async function orderedStream(tx: Tx, direction: 'asc' | 'desc', where: RawBuilder<SqlBool>): Promise<Stream> {
  await fixPlan(tx)
  const order =
    direction === 'desc' ? sql`order by i.datetime desc nulls last, i.seq` : sql`order by i.datetime asc nulls first, i.seq desc`
  return { from: sql`from item i where ${where}`, order }
}

interface Merge {
  boxes: readonly Bbox[]
  direction: 'asc' | 'desc'
  predicates: readonly RawBuilder<SqlBool>[]
}

async function mergedStream(tx: Tx, wanted: Search, { boxes, direction, predicates }: Merge): Promise<Stream> {
  await fixPlan(tx)
  const order = direction === 'desc' ? sql.raw('order by datetime desc, seq') : sql.raw('order by datetime, seq desc')
  const spans = spansOf(wanted.interval)
  const scans = cellsToRead(boxes).flatMap((cell) =>
    spans.map(
      (span) => sql`(
    select datetime, seq from item_cell where org_id = ${wanted.organizationId} and cell = ${cell} and ${span}
      and (${inSteps(boxes)}) ${order}
  )`,
    ),
  )
  const once = sql`select distinct on (datetime, seq) datetime, seq from (${sql.join(scans, sql` union all `)}) u ${order}`
  const from = sql`from (${once}) k join lateral (select * from item where item.seq = k.seq offset 0) i on true where ${all(predicates)}`
  return { from, order: direction === 'desc' ? sql`order by k.datetime desc, k.seq` : sql`order by k.datetime, k.seq desc` }
}

/** Items without a datetime stand at the end of every cell; a search by time reads that end beside the stretch it wants. */
function spansOf(interval: Interval | null): RawBuilder<SqlBool>[] {
  if (!interval) return [sql<SqlBool>`true`]
  const { from, to } = interval
  const dated = [
    sql<SqlBool>`datetime > '-infinity'`,
    ...(from ? [sql<SqlBool>`datetime >= ${from}`] : []),
    ...(to ? [sql<SqlBool>`datetime <= ${to}`] : []),
  ]
  return [all(dated), sql<SqlBool>`datetime = '-infinity'`]
}

function inSteps(boxes: readonly Bbox[]): RawBuilder<SqlBool> {
  const each = boxes.map((box) => {
    const [x0, y0, x1, y1] = stepsOf(box)
    return sql<SqlBool>`x0 <= ${x1}::smallint and x1 >= ${x0}::smallint and y0 <= ${y1}::smallint and y1 >= ${y0}::smallint`
  })
  return sql<SqlBool>`(${sql.join(each, sql`) or (`)})`
}

async function countOf(tx: Tx, wanted: Search, stream: Stream, returned: number): Promise<{ matched: number; isEstimated: boolean }> {
  // A page that was not filled has reached the end, unless it began behind it.
  if (returned < wanted.limit && (returned > 0 || wanted.offset === 0)) return { matched: wanted.offset + returned, isEstimated: false }
  const { rows } = await sql<{
    n: number
  }>`${ANEW} select count(*) as n from (select 1 ${stream.from} limit ${MAX_EXACT_COUNT + 1}) few`.execute(tx)
  if (rows[0]!.n <= MAX_EXACT_COUNT) return { matched: rows[0]!.n, isEstimated: false }
  const least = Math.max(MAX_EXACT_COUNT + 1, wanted.offset + returned)
  return { matched: Math.max(least, await estimate(tx, wanted)), isEstimated: true }
}

/** Runs of neighbours at even distances: cheap to read, and spread over everything that was ever added. */
const SAMPLE_RUNS = 40
const SAMPLE_RUN_LENGTH = 25
/** The largest projects stand for the rest of the organization. */
const MAX_SAMPLED_PROJECTS = 20

/** The share of matches in a sample, times the number of items, which the projects' counters know. */
async function estimate(tx: Tx, wanted: Search): Promise<number> {
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
  `.execute(tx)
  const { total, seen, matched } = rows[0]!
  return seen === 0 ? 0 : Math.round((total * matched) / seen)
}
