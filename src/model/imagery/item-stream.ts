/** From a search to its matching rows, in order: chooses the index to scan and where to start. See ADR 11. */
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { boundsOf } from '#core/position.ts'
import type { Interval } from '#core/interval.ts'
import type { ItemType } from '#core/vocabulary.ts'
import { FILTERED, VARIOUS } from '#db/prepared.ts'
import type { Db } from '#db/tables.ts'
import { boxesOf, cellsToRead, isWorld, rectangle, stepsOf, type Bbox, type Part } from './footprint.ts'
import { all, comesAfter, duringInterval, hasId, orderBy, touches, type Cursor, type Order } from './item-filter.ts'
import type { SearchMemory } from './search-memory.ts'

export interface Search {
  organizationId: string
  /** One project, or null for the whole organization without projects hidden from the caller. */
  projectId: string | null
  hiddenProjectIds: readonly string[]
  bbox: Bbox | null
  /** In addition to a box, or instead of one: an item must touch one of these shapes. */
  shapes?: readonly Part[] | null
  interval: Interval | null
  collectionIds: readonly string[] | null
  /** STAC IDs or our own. */
  ids?: readonly string[] | null
  type: ItemType | null
  query: readonly RawBuilder<SqlBool>[]
  /** Empty means newest first. */
  orders: readonly Order[]
  limit: number
  offset: number
  /** The end of the previous page. */
  after?: Cursor | null
  /** `full` by default; `cheap` counts only if that costs next to nothing; `none` if the total is already known. */
  counting?: 'full' | 'cheap' | 'none'
  /** Whether to return the assets of each item. */
  withAssets?: boolean
  /** A page too large for a response ends early instead of being rejected; the rest follows from its cursor. */
  mayEndEarly?: boolean
}

/** How the matches of a search are read. */
export interface Stream {
  /** `from …` that yields each match once as `i`, in order, with limit and offset. */
  page: (limit: number, offset: number) => RawBuilder<unknown>
  /** What is counted; if every match must be examined, at most `maxCountedRows`. */
  counted: RawBuilder<unknown>
  /** The rows that had to be examined, if limited: with more than the limit, the count is incomplete. */
  candidates: RawBuilder<unknown> | null
  /** Whether it is read in index order, on a connection that plans nothing else. */
  isStreaming: boolean
  /** Prefix of its statements: statements that are the same for many searches are prepared, others are not. */
  prefix: RawBuilder<unknown>
}

const VARIOUS_TEXT = sql.raw(VARIOUS)
const ONE_TEXT = sql.raw('/* stream */')
const FILTERED_TEXT = sql.raw(FILTERED)
/** Shapes of several boxes and filters on the row are part of the statement's text; everything else is a parameter. */
const prefixFor = ({ query }: Search, branches: number, boxes = 1): RawBuilder<unknown> => {
  if (branches > MAX_PREPARED_CELLS || boxes > 1) return VARIOUS_TEXT
  if (query.length === 0) return ONE_TEXT
  return branches <= MAX_FILTERED_CELLS ? FILTERED_TEXT : VARIOUS_TEXT
}

/** Limits the count, because a very selective filter would otherwise be tested against the whole archive. */
export const maxCountedRows = ({ counting }: Search): number => (counting === 'cheap' ? MAX_CHEAPLY_COUNTED_ROWS : MAX_COUNTED_ROWS)
const MAX_COUNTED_ROWS = 10_000
const MAX_CHEAPLY_COUNTED_ROWS = 100

const NEWEST_FIRST: readonly Order[] = [{ column: 'i.datetime', direction: 'desc', kind: 'time' }]
export const ordersOf = ({ orders }: Search): readonly Order[] => (orders.length > 0 ? orders : NEWEST_FIRST)

/** Sets up to this size are read completely and sorted: cheaper than scanning everything else of the organization. */
const SMALL_SET = 10_000
/** A search with more shapes than this looks for candidates in one box around them all. */
const MAX_BOXES = 8

/** The boxes whose cells are read; null for the whole Earth or no constraint. */
function boxesToRead({ bbox, shapes }: Search): Bbox[] | null {
  if (bbox && !isWorld(bbox)) return boxesOf(bbox)
  if (!shapes) return null
  const boxes = shapes.map((part) => boundsOf(part))
  return boxes.length <= MAX_BOXES ? boxes : [boundsOf(shapes.flat())]
}

export async function streamOf(db: Db, memory: SearchMemory, criteria: Search): Promise<Stream> {
  const predicates = predicatesOf(criteria)
  const scope =
    criteria.projectId === null ? sql<SqlBool>`i.org_id = ${criteria.organizationId}` : sql<SqlBool>`i.project_id = ${criteria.projectId}`
  const live = sql<SqlBool>`i.deleted_at is null`
  const isSmall = await isSmallSet(db, memory, criteria)
  const boxes = boxesToRead(criteria)
  const direction = directionOf(criteria.orders)
  if (!isSmall && direction) {
    return boxes
      ? mergedStream(criteria, { boxes, direction, predicates: [live, ...rowPredicates(criteria)] })
      : orderedStream(
          criteria,
          direction,
          [scope, live],
          [...rowPredicates({ ...criteria, projectId: null }), ...placePredicates({ ...criteria, interval: null })],
        )
  }
  const order = sql`order by ${orderBy(ordersOf(criteria))}`
  const after = criteria.after ? [comesAfter(ordersOf(criteria), criteria.after)] : []
  if (criteria.ids) return namedStream(criteria, all([scope, live, ...predicates, ...after]), order)
  if (isSmall || !boxes) return plainStream(sql`item i`, all([scope, live, ...predicates, ...after]), order)
  const touched = sql`select distinct seq from item_cell where org_id = ${criteria.organizationId}
    and cell = any(${cellsToRead(boxes)}::integer[]) and (${inSteps(boxes)})`
  return plainStream(sql`(${touched}) k join item i on i.seq = k.seq`, all([live, ...predicates, ...after]), order)
}

function plainStream(tables: RawBuilder<unknown>, where: RawBuilder<SqlBool>, order: RawBuilder<unknown>): Stream {
  const from = sql`from ${tables} where ${where}`
  return { page: pageOf(from, order), counted: from, candidates: null, isStreaming: false, prefix: VARIOUS_TEXT }
}

const pageOf = (from: RawBuilder<unknown>, order: RawBuilder<unknown>): Stream['page'] => {
  return (limit, offset) => sql`${from} ${order} limit ${limit} offset ${offset}`
}

/** Items selected by ID are looked up, whatever the other conditions. */
function namedStream(criteria: Search, where: RawBuilder<SqlBool>, order: RawBuilder<unknown>): Stream {
  const named = sql`select seq from item where id = any(${criteria.ids}::text[])
    union select seq from item where stac_id = any(${criteria.ids}::text[]) and stac_id <> id and deleted_at is null`
  const from = sql`from (${named}) k join lateral (select * from item where item.seq = k.seq offset 0) i on true where ${where}`
  return { page: pageOf(from, order), counted: from, candidates: null, isStreaming: true, prefix: prefixFor(criteria, 1) }
}

/** Newest or oldest first and nothing else, as in the indexes. */
function directionOf(orders: readonly Order[]): 'asc' | 'desc' | null {
  if (orders.length === 0) return 'desc'
  return orders.length === 1 && orders[0]!.column === 'i.datetime' ? orders[0]!.direction : null
}

/** All conditions on an item's row. */
export const predicatesOf = (criteria: Search): RawBuilder<SqlBool>[] => [...rowPredicates(criteria), ...placePredicates(criteria)]

/** Whether an item's box is near a searched one: a cheap test that excludes most rows. Not exact, because boxes are as stated. */
export function mayTouch(criteria: Search): RawBuilder<SqlBool> {
  const boxes = boxesToRead(criteria)
  if (boxes?.length !== 1) return sql<SqlBool>`true`
  const [west, south, east, north] = boxes[0]!
  return sql<SqlBool>`(i.bbox is null or i.bbox[1] > i.bbox[3] or (i.bbox[1] <= ${east}::float8 and i.bbox[3] >= ${west}::float8
    and i.bbox[2] <= ${north}::float8 and i.bbox[4] >= ${south}::float8))`
}

/** Exact conditions on position and time. */
function placePredicates(criteria: Search): RawBuilder<SqlBool>[] {
  return [
    ...(criteria.interval ? [duringInterval(criteria.interval)] : []),
    ...(criteria.bbox
      ? [isWorld(criteria.bbox) ? sql<SqlBool>`i.footprint is not null` : touches(boxesOf(criteria.bbox).map(rectangle))]
      : []),
    ...(criteria.shapes ? [touches(criteria.shapes)] : []),
  ]
}

/** Conditions other than position and time. */
function rowPredicates(criteria: Search): RawBuilder<SqlBool>[] {
  return [
    ...(criteria.projectId === null ? [] : [sql<SqlBool>`i.project_id = ${criteria.projectId}`]),
    ...(criteria.hiddenProjectIds.length === 0 ? [] : [sql<SqlBool>`i.project_id <> all(${criteria.hiddenProjectIds}::uuid[])`]),
    ...(criteria.collectionIds ? [sql<SqlBool>`i.collection_id = any(${criteria.collectionIds}::uuid[])`] : []),
    ...(criteria.ids ? [hasId(criteria.ids)] : []),
    ...(criteria.type ? [sql<SqlBool>`i.type = ${criteria.type}`] : []),
    ...criteria.query,
  ]
}

/** For how many more searches a set that was large when counted is assumed to be large. */
const ASSUMED_TIMES = 200

/** Known without a scan: a project has a counter, and a collection is counted only up to the limit. */
async function isSmallSet(db: Db, { largeSets }: SearchMemory, criteria: Search): Promise<boolean> {
  if (criteria.ids) return true
  if (criteria.projectId === null && !criteria.collectionIds) return false
  const name = JSON.stringify([criteria.projectId, criteria.collectionIds])
  const remaining = largeSets.get(name) ?? 0
  largeSets.set(name, remaining - 1)
  if (remaining > 0) return false
  const isSmall = await countSmall(db, criteria)
  if (isSmall) largeSets.delete(name)
  else largeSets.set(name, ASSUMED_TIMES)
  return isSmall
}

async function countSmall(db: Db, { projectId, collectionIds }: Search): Promise<boolean> {
  const { rows } = await sql<{ project: number | null; collections: number | null }>`
    select (select item_count from project where id = ${projectId}) as project,
      case when ${collectionIds}::uuid[] is not null then
        (select count(*) from (select 1 from item where collection_id = any(${collectionIds}::uuid[])
          and deleted_at is null limit ${SMALL_SET + 1}) few)
      end as collections
  `.execute(db)
  const { project, collections } = rows[0]!
  return (project ?? Infinity) <= SMALL_SET || (collections ?? Infinity) <= SMALL_SET
}

/** Ranges of an index by time, each read in order and merged: items with a datetime, and those without, which come last. */
function orderedStream(
  criteria: Search,
  direction: 'asc' | 'desc',
  scope: readonly RawBuilder<SqlBool>[],
  predicates: readonly RawBuilder<SqlBool>[],
): Stream {
  const order =
    direction === 'desc' ? sql`order by i.datetime desc nulls last, i.seq` : sql`order by i.datetime asc nulls first, i.seq desc`
  const within = stretched(criteria, direction, scope, order)
  const few = sql`from (select i.* ${within} limit ${maxCountedRows(criteria)}) i where ${all(predicates)}`
  const isOpen = predicates.length === 0
  return {
    page: pageOf(sql`${within} ${isOpen ? sql`` : sql`${isStretched(criteria) ? sql`where` : sql`and`} ${all(predicates)}`}`, order),
    counted: isOpen ? within : few,
    candidates: isOpen ? null : within,
    isStreaming: true,
    prefix: prefixFor(criteria, 1),
  }
}

const isStretched = ({ interval, after }: Search): boolean => interval !== null || !!after

function stretched(
  criteria: Search,
  direction: 'asc' | 'desc',
  scope: readonly RawBuilder<SqlBool>[],
  order: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { interval, after } = criteria
  if (!isStretched(criteria)) return sql`from item i where ${all(scope)}`
  const dated = [
    sql<SqlBool>`i.datetime is not null`,
    ...(interval?.from ? [sql<SqlBool>`i.datetime >= ${interval.from}`] : []),
    ...(interval?.to ? [sql<SqlBool>`i.datetime <= ${interval.to}`] : []),
  ]
  const undated = [sql<SqlBool>`i.datetime is null`, ...(interval ? [duringInterval(interval)] : [])]
  const cut = after ? stretches(direction, after, sql`i.datetime`) : { dated: sql<SqlBool>`true`, undated: sql<SqlBool>`true` }
  const branch = (span: readonly RawBuilder<SqlBool>[]) => sql`(select i.* from item i where ${all([...scope, ...span])} ${order})`
  return sql`from (${branch([...dated, cut.dated])} union all ${branch([...undated, cut.undated])}) i`
}

/** What remains of the two ranges after a cursor. */
function stretches(
  direction: 'asc' | 'desc',
  { values, seq }: Cursor,
  datetime: RawBuilder<unknown>,
): { dated: RawBuilder<SqlBool>; undated: RawBuilder<SqlBool> } {
  const value = values[0] ?? null
  const [none, whole] = [sql<SqlBool>`false`, sql<SqlBool>`true`]
  if (direction === 'desc')
    return value === null
      ? { dated: none, undated: sql<SqlBool>`i.seq > ${seq}` }
      : {
          dated: sql<SqlBool>`${datetime} <= ${value}::timestamptz and (${datetime} < ${value}::timestamptz or i.seq > ${seq})`,
          undated: whole,
        }
  return value === null
    ? { dated: whole, undated: sql<SqlBool>`i.seq < ${seq}` }
    : {
        dated: sql<SqlBool>`${datetime} >= ${value}::timestamptz and (${datetime} > ${value}::timestamptz or i.seq < ${seq})`,
        undated: none,
      }
}

interface Merge {
  boxes: readonly Bbox[]
  direction: 'asc' | 'desc'
  predicates: readonly RawBuilder<SqlBool>[]
}

/**
 * Each cell is an ordered index scan, and their union is a merge. Items completely inside the box are known from the index; only those
 * across its edge are compared exactly. Conditions common to all cells are written once, around them; PostgreSQL pushes them into
 * each scan.
 */
function mergedStream(criteria: Search, { boxes, direction, predicates }: Merge): Stream {
  const order = direction === 'desc' ? sql.raw('order by datetime desc, seq') : sql.raw('order by datetime, seq desc')
  const inOrder = direction === 'desc' ? sql.raw('order by k.datetime desc, k.seq') : sql.raw('order by k.datetime, k.seq desc')
  const cut = criteria.after ? sql<SqlBool>`and ${afterInCells(direction, criteria.after)}` : sql``
  const within = criteria.bbox && !criteria.shapes ? sql`decided and ${insideSteps(boxes)}` : sql<SqlBool>`false`
  const spans = spansOf(criteria.interval)
  const cells = padded(cellsToRead(boxes))
  const scans = cells.flatMap((cell) =>
    spans.map(
      ({ span, isDecided }) => sql`(select org_id, datetime, seq, x0, y0, x1, y1, ${sql.lit(isDecided)} as decided from item_cell
        where cell = ${cell} and ${span} ${order})`,
    ),
  )
  const once = sql`select distinct on (datetime, seq) datetime, seq, ${within} as inside
    from (${sql.join(scans, sql` union all `)}) u where org_id = ${criteria.organizationId} and (${inSteps(boxes)}) ${cut} ${order}`
  const matches = all([...predicates, sql<SqlBool>`k.inside or (${all(placePredicates(criteria))})`])
  const across = sql`exists (select from item i where i.seq = k.seq and ${matches})`
  const candidates = sql`from (${once}) k`
  const few = sql`from (select * ${candidates} limit ${maxCountedRows(criteria)}) k`
  const rows = sql`join lateral (select * from item where item.seq = k.seq offset 0) i on true`
  // Deleted items have no cells, so without other conditions only the rows of the page need be read.
  const isOpen = rowPredicates(criteria).length === 0
  const open = sql`where k.inside or ${across}`
  return {
    page: (limit, offset) =>
      isOpen
        ? sql`from (select k.datetime, k.seq ${candidates} ${open} ${inOrder} limit ${limit} offset ${offset}) k ${rows} ${inOrder}`
        : sql`from (${once}) k ${rows} where ${matches} ${inOrder} limit ${limit} offset ${offset}`,
    counted: isOpen ? sql`${few} ${open}` : sql`${few} where ${across}`,
    candidates,
    isStreaming: true,
    prefix: prefixFor(criteria, cells.length, boxes.length),
  }
}

/** Statements for these numbers of cells are prepared; numbers in between are padded with an empty cell. */
const PREPARED_CELLS = [3, 5, 9, 17, 27]
const MAX_PREPARED_CELLS = 27
const MAX_FILTERED_CELLS = 17
const NO_CELL = -1

function padded(cells: readonly number[]): number[] {
  const length = PREPARED_CELLS.find((count) => count >= cells.length) ?? cells.length
  return [...cells, ...Array.from({ length: length - cells.length }, () => NO_CELL)]
}

function afterInCells(direction: 'asc' | 'desc', { values, seq }: Cursor): RawBuilder<SqlBool> {
  const at = sql`${values[0] ?? '-infinity'}::timestamptz`
  return direction === 'desc'
    ? sql<SqlBool>`datetime <= ${at} and (datetime < ${at} or seq > ${seq})`
    : sql<SqlBool>`datetime >= ${at} and (datetime > ${at} or seq < ${seq})`
}

/**
 * Items without a datetime are at the end of every cell; a search by time also reads that end. Their rows show whether they match.
 */
function spansOf(interval: Interval | null): { span: RawBuilder<SqlBool>; isDecided: boolean }[] {
  if (!interval) return [{ span: sql<SqlBool>`true`, isDecided: true }]
  const { from, to } = interval
  const dated = [
    sql<SqlBool>`datetime > '-infinity'`,
    ...(from ? [sql<SqlBool>`datetime >= ${from}`] : []),
    ...(to ? [sql<SqlBool>`datetime <= ${to}`] : []),
  ]
  // Nothing is earlier, but with an equality the planner would lose the order of the others.
  return [
    { span: all(dated), isDecided: true },
    { span: sql<SqlBool>`datetime <= '-infinity'`, isDecided: false },
  ]
}

/** One step inside every side, so that rounding cannot cause a false match. */
function insideSteps(boxes: readonly Bbox[]): RawBuilder<SqlBool> {
  const each = boxes.map((box) => {
    const [x0, y0, x1, y1] = stepsOf(box)
    return sql<SqlBool>`x0 > ${x0}::smallint and x1 < ${x1}::smallint and y0 > ${y0}::smallint and y1 < ${y1}::smallint`
  })
  return sql<SqlBool>`((${sql.join(each, sql`) or (`)}))`
}

function inSteps(boxes: readonly Bbox[]): RawBuilder<SqlBool> {
  const each = boxes.map((box) => {
    const [x0, y0, x1, y1] = stepsOf(box)
    return sql<SqlBool>`x0 <= ${x1}::smallint and x1 >= ${x0}::smallint and y0 <= ${y1}::smallint and y1 >= ${y0}::smallint`
  })
  return sql<SqlBool>`(${sql.join(each, sql`) or (`)})`
}
