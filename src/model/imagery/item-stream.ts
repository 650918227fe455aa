/** From a search to the rows that match it, in its order: which index is walked, and from where. See ADR 11. */
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
  /** One project, or null for the whole organization without those that are hidden from the caller. */
  projectId: string | null
  hiddenProjectIds: readonly string[]
  bbox: Bbox | null
  /** Beside a box, or instead of one: shapes of which an item must touch one. */
  shapes?: readonly Part[] | null
  interval: Interval | null
  collectionIds: readonly string[] | null
  /** Ids of STAC or of ours. */
  ids?: readonly string[] | null
  type: ItemType | null
  query: readonly RawBuilder<SqlBool>[]
  /** Empty: newest first. */
  orders: readonly Order[]
  limit: number
  offset: number
  /** Where the page before ended. */
  after?: Cursor | null
  /** `full` unless it says otherwise; `cheap` gives a number where that costs next to nothing; `none` where it is known already. */
  counting?: 'full' | 'cheap' | 'none'
  /** Whether each item comes with its assets. */
  withAssets?: boolean
  /** A page that is too heavy for an answer ends early instead of being refused; the rest follows from its cursor. */
  mayEndEarly?: boolean
}

/** How the matches of a search are read. */
export interface Stream {
  /** `from …` that yields each match once as `i`, in order: so many, after those that are passed over. */
  page: (limit: number, offset: number) => RawBuilder<unknown>
  /** What is counted of it; where every match must be looked at, no more of them than `maxCountedRows`. */
  counted: RawBuilder<unknown>
  /** Those that had to be looked at, where that was limited: more than the limit, and the count is not the whole of it. */
  candidates: RawBuilder<unknown> | null
  /** Whether it is read in the one order that the indexes keep, on a connection that plans nothing else. */
  isStreaming: boolean
  /** Begins each of its statements: those that look alike for many searches are prepared, the others are not. */
  prefix: RawBuilder<unknown>
}

const VARIOUS_TEXT = sql.raw(VARIOUS)
const ONE_TEXT = sql.raw('/* stream */')
const FILTERED_TEXT = sql.raw(FILTERED)
/** Shapes of several boxes are spelled out in the text, and so is what a caller asks of the row; all else are parameters. */
const prefixFor = ({ query }: Search, branches: number, boxes = 1): RawBuilder<unknown> => {
  if (branches > MAX_PREPARED_CELLS || boxes > 1) return VARIOUS_TEXT
  if (query.length === 0) return ONE_TEXT
  return branches <= MAX_FILTERED_CELLS ? FILTERED_TEXT : VARIOUS_TEXT
}

/** A filter that hardly anything passes would otherwise be held against the whole archive, to count. */
export const maxCountedRows = ({ counting }: Search): number => (counting === 'cheap' ? MAX_CHEAPLY_COUNTED_ROWS : MAX_COUNTED_ROWS)
const MAX_COUNTED_ROWS = 10_000
const MAX_CHEAPLY_COUNTED_ROWS = 100

const NEWEST_FIRST: readonly Order[] = [{ column: 'i.datetime', direction: 'desc', kind: 'time' }]
export const ordersOf = ({ orders }: Search): readonly Order[] => (orders.length > 0 ? orders : NEWEST_FIRST)

/** Sets up to this size are read whole and sorted: cheaper than a walk over everything else of the organization. */
const SMALL_SET = 10_000
/** A search of more shapes than this looks for candidates in one box around them all. */
const MAX_BOXES = 8

/** What the cells are read for; null where the whole Earth is wanted or nothing is said. */
function boxesToRead({ bbox, shapes }: Search): Bbox[] | null {
  if (bbox && !isWorld(bbox)) return boxesOf(bbox)
  if (!shapes) return null
  const boxes = shapes.map((part) => boundsOf(part))
  return boxes.length <= MAX_BOXES ? boxes : [boundsOf(shapes.flat())]
}

export async function streamOf(db: Db, memory: SearchMemory, wanted: Search): Promise<Stream> {
  const predicates = predicatesOf(wanted)
  const scope =
    wanted.projectId === null ? sql<SqlBool>`i.org_id = ${wanted.organizationId}` : sql<SqlBool>`i.project_id = ${wanted.projectId}`
  const live = sql<SqlBool>`i.deleted_at is null`
  const isSmall = await isSmallSet(db, memory, wanted)
  const boxes = boxesToRead(wanted)
  const direction = directionOf(wanted.orders)
  if (!isSmall && direction) {
    return boxes
      ? mergedStream(wanted, { boxes, direction, predicates: [live, ...rowPredicates(wanted)] })
      : orderedStream(
          wanted,
          direction,
          [scope, live],
          [...rowPredicates({ ...wanted, projectId: null }), ...placePredicates({ ...wanted, interval: null })],
        )
  }
  const order = sql`order by ${orderBy(ordersOf(wanted))}`
  const after = wanted.after ? [comesAfter(ordersOf(wanted), wanted.after)] : []
  if (wanted.ids) return namedStream(wanted, all([scope, live, ...predicates, ...after]), order)
  if (isSmall || !boxes) return plainStream(sql`item i`, all([scope, live, ...predicates, ...after]), order)
  const touched = sql`select distinct seq from item_cell where org_id = ${wanted.organizationId}
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

/** Items that are named are looked up, whatever else is asked of them. */
function namedStream(wanted: Search, where: RawBuilder<SqlBool>, order: RawBuilder<unknown>): Stream {
  const named = sql`select seq from item where id = any(${wanted.ids}::text[])
    union select seq from item where stac_id = any(${wanted.ids}::text[]) and stac_id <> id and deleted_at is null`
  const from = sql`from (${named}) k join lateral (select * from item where item.seq = k.seq offset 0) i on true where ${where}`
  return { page: pageOf(from, order), counted: from, candidates: null, isStreaming: true, prefix: prefixFor(wanted, 1) }
}

/** Newest or oldest first, and nothing else: what the indexes keep. */
function directionOf(orders: readonly Order[]): 'asc' | 'desc' | null {
  if (orders.length === 0) return 'desc'
  return orders.length === 1 && orders[0]!.column === 'i.datetime' ? orders[0]!.direction : null
}

/** All that must hold of an item's row, but for its order. */
export const predicatesOf = (wanted: Search): RawBuilder<SqlBool>[] => [...rowPredicates(wanted), ...placePredicates(wanted)]

/** Whether an item's box lies near one that is searched: tells most that do not match, cheaply. Not exact, since boxes are as stated. */
export function mayTouch(wanted: Search): RawBuilder<SqlBool> {
  const boxes = boxesToRead(wanted)
  if (boxes?.length !== 1) return sql<SqlBool>`true`
  const [west, south, east, north] = boxes[0]!
  return sql<SqlBool>`(i.bbox is null or i.bbox[1] > i.bbox[3] or (i.bbox[1] <= ${east}::float8 and i.bbox[3] >= ${west}::float8
    and i.bbox[2] <= ${north}::float8 and i.bbox[4] >= ${south}::float8))`
}

/** Those of place and time, exactly. */
function placePredicates(wanted: Search): RawBuilder<SqlBool>[] {
  return [
    ...(wanted.interval ? [duringInterval(wanted.interval)] : []),
    ...(wanted.bbox ? [isWorld(wanted.bbox) ? sql<SqlBool>`i.footprint is not null` : touches(boxesOf(wanted.bbox).map(rectangle))] : []),
    ...(wanted.shapes ? [touches(wanted.shapes)] : []),
  ]
}

/** Those that neither place nor time decides. */
function rowPredicates(wanted: Search): RawBuilder<SqlBool>[] {
  return [
    ...(wanted.projectId === null ? [] : [sql<SqlBool>`i.project_id = ${wanted.projectId}`]),
    ...(wanted.hiddenProjectIds.length === 0 ? [] : [sql<SqlBool>`i.project_id <> all(${wanted.hiddenProjectIds}::uuid[])`]),
    ...(wanted.collectionIds ? [sql<SqlBool>`i.collection_id = any(${wanted.collectionIds}::uuid[])`] : []),
    ...(wanted.ids ? [hasId(wanted.ids)] : []),
    ...(wanted.type ? [sql<SqlBool>`i.type = ${wanted.type}`] : []),
    ...wanted.query,
  ]
}

/** How often a large set is taken for large before it is counted again. */
const BELIEVED_TIMES = 200

/** Known without a scan: a project has a counter, and of a collection no more is counted than matters. */
async function isSmallSet(db: Db, { largeSets }: SearchMemory, wanted: Search): Promise<boolean> {
  if (wanted.ids) return true
  if (wanted.projectId === null && !wanted.collectionIds) return false
  const name = JSON.stringify([wanted.projectId, wanted.collectionIds])
  const left = largeSets.get(name) ?? 0
  largeSets.set(name, left - 1)
  if (left > 0) return false
  const isSmall = await countSmall(db, wanted)
  if (isSmall) largeSets.delete(name)
  else largeSets.set(name, BELIEVED_TIMES)
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

/** Stretches of an index by time, each read in order and merged: those with a datetime, and those without, which come last. */
function orderedStream(
  wanted: Search,
  direction: 'asc' | 'desc',
  scope: readonly RawBuilder<SqlBool>[],
  predicates: readonly RawBuilder<SqlBool>[],
): Stream {
  const order =
    direction === 'desc' ? sql`order by i.datetime desc nulls last, i.seq` : sql`order by i.datetime asc nulls first, i.seq desc`
  const within = stretched(wanted, direction, scope, order)
  const few = sql`from (select i.* ${within} limit ${maxCountedRows(wanted)}) i where ${all(predicates)}`
  const isOpen = predicates.length === 0
  return {
    page: pageOf(sql`${within} ${isOpen ? sql`` : sql`${isStretched(wanted) ? sql`where` : sql`and`} ${all(predicates)}`}`, order),
    counted: isOpen ? within : few,
    candidates: isOpen ? null : within,
    isStreaming: true,
    prefix: prefixFor(wanted, 1),
  }
}

const isStretched = ({ interval, after }: Search): boolean => interval !== null || !!after

function stretched(
  wanted: Search,
  direction: 'asc' | 'desc',
  scope: readonly RawBuilder<SqlBool>[],
  order: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { interval, after } = wanted
  if (!isStretched(wanted)) return sql`from item i where ${all(scope)}`
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

/** What is left of the two stretches after a cursor. */
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
 * Each cell is an ordered index scan and their union a merge. What lies wholly inside the box is known from the index; only what
 * lies across its edge is compared exactly. What is the same for all cells is said once, around them; PostgreSQL takes it down
 * into each scan.
 */
function mergedStream(wanted: Search, { boxes, direction, predicates }: Merge): Stream {
  const order = direction === 'desc' ? sql.raw('order by datetime desc, seq') : sql.raw('order by datetime, seq desc')
  const inOrder = direction === 'desc' ? sql.raw('order by k.datetime desc, k.seq') : sql.raw('order by k.datetime, k.seq desc')
  const cut = wanted.after ? sql<SqlBool>`and ${afterInCells(direction, wanted.after)}` : sql``
  const within = wanted.bbox && !wanted.shapes ? sql`decided and ${insideSteps(boxes)}` : sql<SqlBool>`false`
  const spans = spansOf(wanted.interval)
  const cells = padded(cellsToRead(boxes))
  const scans = cells.flatMap((cell) =>
    spans.map(
      ({ span, isDecided }) => sql`(select org_id, datetime, seq, x0, y0, x1, y1, ${sql.lit(isDecided)} as decided from item_cell
        where cell = ${cell} and ${span} ${order})`,
    ),
  )
  const once = sql`select distinct on (datetime, seq) datetime, seq, ${within} as inside
    from (${sql.join(scans, sql` union all `)}) u where org_id = ${wanted.organizationId} and (${inSteps(boxes)}) ${cut} ${order}`
  const matches = all([...predicates, sql<SqlBool>`k.inside or (${all(placePredicates(wanted))})`])
  const across = sql`exists (select from item i where i.seq = k.seq and ${matches})`
  const candidates = sql`from (${once}) k`
  const few = sql`from (select * ${candidates} limit ${maxCountedRows(wanted)}) k`
  const rows = sql`join lateral (select * from item where item.seq = k.seq offset 0) i on true`
  // Deleted items have no cells, so where nothing else is asked of the row, only those of the page need be looked at.
  const isOpen = rowPredicates(wanted).length === 0
  const open = sql`where k.inside or ${across}`
  return {
    page: (limit, offset) =>
      isOpen
        ? sql`from (select k.datetime, k.seq ${candidates} ${open} ${inOrder} limit ${limit} offset ${offset}) k ${rows} ${inOrder}`
        : sql`from (${once}) k ${rows} where ${matches} ${inOrder} limit ${limit} offset ${offset}`,
    counted: isOpen ? sql`${few} ${open}` : sql`${few} where ${across}`,
    candidates,
    isStreaming: true,
    prefix: prefixFor(wanted, cells.length, boxes.length),
  }
}

/** Statements for so many cells are prepared; the numbers between them are filled up with a cell that nothing is in. */
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
 * Items without a datetime stand at the end of every cell; a search by time reads that end beside the stretch it wants. Whether
 * they match, their rows tell.
 */
function spansOf(interval: Interval | null): { span: RawBuilder<SqlBool>; isDecided: boolean }[] {
  if (!interval) return [{ span: sql<SqlBool>`true`, isDecided: true }]
  const { from, to } = interval
  const dated = [
    sql<SqlBool>`datetime > '-infinity'`,
    ...(from ? [sql<SqlBool>`datetime >= ${from}`] : []),
    ...(to ? [sql<SqlBool>`datetime <= ${to}`] : []),
  ]
  // Nothing is earlier, but an equality would make the planner forget the order of the others.
  return [
    { span: all(dated), isDecided: true },
    { span: sql<SqlBool>`datetime <= '-infinity'`, isDecided: false },
  ]
}

/** A whole step away from every side, so that rounding cannot deceive. */
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
