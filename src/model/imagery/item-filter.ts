/**
 * Filters and orders of item search, from the wire to SQL. Values and names of properties travel as parameters only; the
 * columns that a caller can name stand in one table here.
 */
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { MAX_FILTER_NODES } from '#core/cql2.ts'
import { parseInstant, type Interval } from '#core/interval.ts'
import { invalidField, problem } from '#core/problem.ts'
import { polygonsText, rectangle, type Bbox, type Part } from './footprint.ts'

type Sql = RawBuilder<unknown>
type Predicate = RawBuilder<SqlBool>

export interface Column {
  /** An expression of ours over `i`; nothing of a caller's ever comes into it. */
  column: string
  kind: 'text' | 'number' | 'time'
}

/** What can be filtered and sorted by as a column; under STAC's name and ours. Those of STAC compare what `toFeature` shows. */
const COLUMNS: ReadonlyMap<string, Column> = new Map(
  Object.entries({
    id: { column: 'i.id', kind: 'text' },
    stac_id: { column: 'i.stac_id', kind: 'text' },
    name: { column: 'coalesce(i.stated_name, i.name)', kind: 'text' },
    title: { column: 'coalesce(i.stated_title, i.name)', kind: 'text' },
    type: { column: 'i.type', kind: 'text' },
    lifecycle_state: { column: 'i.lifecycle_state', kind: 'text' },
    datetime: { column: 'i.datetime', kind: 'time' },
    start_datetime: { column: 'i.start_datetime', kind: 'time' },
    end_datetime: { column: 'i.end_datetime', kind: 'time' },
    created: { column: 'coalesce(i.stated_created, i.created_at)', kind: 'time' },
    created_at: { column: 'i.created_at', kind: 'time' },
    updated: { column: 'coalesce(i.stated_updated, i.updated_at)', kind: 'time' },
    updated_at: { column: 'i.updated_at', kind: 'time' },
    cloud_cover: { column: 'i.cloud_cover', kind: 'number' },
    'eo:cloud_cover': { column: 'i.cloud_cover', kind: 'number' },
    gsd: { column: 'i.gsd', kind: 'number' },
  } satisfies Record<string, Column>),
)

const SORT_FIELDS: readonly string[] = [...COLUMNS.keys()]

/** What a STAC client sees of an item, under the names that it sees: an item's `id` there is its STAC id. */
export const STAC_COLUMNS: ReadonlyMap<string, Column> = new Map([
  ...COLUMNS,
  ...Object.entries({
    id: { column: 'i.stac_id', kind: 'text' },
    collection: { column: 'i.collection_id::text', kind: 'text' },
    description: { column: 'i.description', kind: 'text' },
    'svc:item_id': { column: 'i.id', kind: 'text' },
    'svc:project_id': { column: 'i.project_id::text', kind: 'text' },
    'svc:order_id': { column: 'i.order_id', kind: 'text' },
    'svc:upload_id': { column: 'i.upload_id', kind: 'text' },
    'svc:job_id': { column: 'i.job_id', kind: 'text' },
    'svc:item_type': { column: 'i.type', kind: 'text' },
    'svc:name': { column: 'i.name', kind: 'text' },
    'svc:lifecycle_state': { column: 'i.lifecycle_state', kind: 'text' },
    'svc:source': {
      column: "(case when i.upload_id is not null then 'ARCHIVE' when i.job_id is not null then 'PROCESSING' else 'TASKING' end)",
      kind: 'text',
    },
  } satisfies Record<string, Column>),
])

const PREFIX = 'properties.'
export const bare = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name)

export interface Order {
  column: string
  direction: 'asc' | 'desc'
  kind: Column['kind']
}

/** An unknown field is refused: an order that silently does nothing is worse. */
export function parseSort(
  sortby: readonly { field: string; direction?: 'asc' | 'desc' | undefined }[],
  columns: ReadonlyMap<string, Column> = COLUMNS,
): Order[] {
  return sortby.map(({ field, direction = 'asc' }) => {
    const known = columns.get(bare(field))
    if (!known) throw problem('bad-request', `Items cannot be sorted by '${field.slice(0, 100)}'; the fields are ${SORT_FIELDS.join(', ')}`)
    return { ...known, direction }
  })
}

export const collated = ({ column, kind }: Column): Sql => (kind === 'text' ? sql.raw(`${column} collate "C"`) : sql.raw(column))

/** One rule for every field: what is missing counts as the least. The sequence number ends every tie. */
export function orderBy(orders: readonly Order[]): Sql {
  const parts = orders.map((order) =>
    order.direction === 'asc' ? sql`${collated(order)} asc nulls first` : sql`${collated(order)} desc nulls last`,
  )
  return sql.join([...parts, orders[0]?.direction === 'asc' ? sql`i.seq desc` : sql`i.seq`])
}

const COMPARISONS = { eq: sql`=`, neq: sql`<>`, lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const
/** Comparisons of texts by a part of them. */
const TEXT_MATCHES: Readonly<Record<string, (text: Sql, part: string) => Predicate>> = {
  startsWith: (text, part) => sql<SqlBool>`starts_with(${text}, ${part})`,
  endsWith: (text, part) => sql<SqlBool>`right(${text}, length(${part}::text)) = ${part}::text`,
  contains: (text, part) => sql<SqlBool>`strpos(${text}, ${part}) > 0`,
}
const OPERATORS: readonly string[] = [...Object.keys(COMPARISONS), 'in', ...Object.keys(TEXT_MATCHES)]

/** `{property: {operator: value}}`, as in the STAC Query extension. All must hold; a property that an item lacks never does. */
export function parseQuery(query: Readonly<Record<string, unknown>>, columns: ReadonlyMap<string, Column> = COLUMNS): Predicate[] {
  let nodes = 0
  return Object.entries(query).flatMap(([name, conditions]) => {
    const field = `query.${name.slice(0, 100)}`
    if (conditions === null || typeof conditions !== 'object' || Array.isArray(conditions))
      throw invalidField(field, `must be an object of operators: ${OPERATORS.join(', ')}`)
    return Object.entries(conditions).map(([operator, value]) => {
      if (!OPERATORS.includes(operator))
        throw invalidField(`${field}.${operator.slice(0, 100)}`, `is not an operator; they are ${OPERATORS.join(', ')}`)
      nodes += Array.isArray(value) ? value.length : 1
      if (nodes > MAX_FILTER_NODES) throw invalidField('query', `has more than ${MAX_FILTER_NODES} conditions`)
      const column = columns.get(bare(name))
      return column
        ? onColumn(column, { operator, value, field: `${field}.${operator}` })
        : onProperty(bare(name), { operator, value, field: `${field}.${operator}` })
    })
  })
}

interface Condition {
  operator: string
  value: unknown
  field: string
}

function onColumn({ column, kind }: Column, { operator, value, field }: Condition): Predicate {
  const subject = collated({ column, kind })
  const one = (given: unknown) => {
    if (kind === 'time' && typeof given === 'string') return parseInstant(given, field)
    if (kind === 'number' && numberIn(given) !== null) return numberIn(given)
    if (typeof given !== (kind === 'number' ? 'number' : 'string'))
      throw invalidField(field, kind === 'time' ? 'must be an RFC 3339 instant' : `must be a ${kind === 'text' ? 'string' : 'number'}`)
    return given
  }
  if (operator === 'in') return sql<SqlBool>`${subject} = any(${listOf(value, field).map(one)})`
  const matches = TEXT_MATCHES[operator]
  if (matches) {
    if (kind !== 'text') throw invalidField(field, 'works on texts only')
    return matches(sql.raw(column), textOf(value, field))
  }
  return sql<SqlBool>`${subject} ${COMPARISONS[operator as keyof typeof COMPARISONS]} ${one(value)}`
}

/** A member of `properties`: by its whole name, or where that has dots by its path. Compared within its own JSON type. */
function onProperty(name: string, { operator, value, field }: Condition): Predicate {
  const subject = propertyOf(name)
  if (operator === 'in') return sql<SqlBool>`(${subject}) = any(${listOf(value, field).flatMap((each) => scalars(each, field))}::jsonb[])`
  const matches = TEXT_MATCHES[operator]
  if (matches) return sql<SqlBool>`jsonb_typeof(${subject}) = 'string' and ${matches(sql`(${subject} #>> '{}')`, textOf(value, field))}`
  const values = scalars(value, field)
  if (operator === 'eq') return sql<SqlBool>`(${subject}) = any(${values}::jsonb[])`
  if (operator === 'neq') return sql<SqlBool>`(${subject}) <> all(${values}::jsonb[])`
  if (typeof value === 'boolean') throw invalidField(field, 'must be a string or a number')
  const comparison = COMPARISONS[operator as keyof typeof COMPARISONS]
  const alternatives = values.map(
    (json) => sql`(jsonb_typeof(${subject}) = jsonb_typeof(${json}::jsonb) and (${subject}) ${comparison} ${json}::jsonb)`,
  )
  return sql<SqlBool>`(${sql.join(alternatives, sql` or `)})`
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** The number that a text spells, as clients without types send it; null where it is no finite one. */
function numberIn(given: unknown): number | null {
  const value = typeof given === 'string' && NUMBER.test(given.trim()) ? Number(given) : Number.NaN
  return Number.isFinite(value) ? value : null
}

/** The value as JSON, and the number that it spells where it is a text: an item may have either. */
function scalars(value: unknown, field: string): string[] {
  const spelt = numberIn(value)
  return spelt === null ? [scalar(value, field)] : [scalar(value, field), JSON.stringify(spelt)]
}

export const propertyOf = (name: string): Sql =>
  name.includes('.')
    ? sql`coalesce(i.properties -> ${name}::text, i.properties #> ${name.split('.')}::text[])`
    : sql`(i.properties -> ${name}::text)`

function scalar(value: unknown, field: string): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw invalidField(field, 'must be a string, a number or a boolean')
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalidField(field, 'is too large a number')
  return JSON.stringify(value)
}

function listOf(value: unknown, field: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw invalidField(field, 'must be a list with at least one value')
  return value
}

function textOf(value: unknown, field: string): string {
  if (typeof value !== 'string') throw invalidField(field, 'must be a string')
  return value
}

/**
 * An item without a datetime has an interval instead; it matches where the two overlap. Of one with neither the time of its
 * registration is shown, and so it is found by that.
 */
export function duringInterval({ from, to }: Interval): Predicate {
  const within = sql<SqlBool>`i.datetime between coalesce(${from}::timestamptz, '-infinity') and coalesce(${to}::timestamptz, 'infinity')`
  const overlaps = sql<SqlBool>`coalesce(i.start_datetime, i.end_datetime, i.created_at) <= coalesce(${to}::timestamptz, 'infinity')
    and coalesce(i.end_datetime, i.start_datetime, i.created_at) >= coalesce(${from}::timestamptz, '-infinity')`
  return sql<SqlBool>`case when i.datetime is null then ${overlaps} else ${within} end`
}

/** Exact: PostgreSQL compares the polygons themselves, not their boxes. Touching counts. */
export function touches(parts: readonly Part[]): Predicate {
  return sql<SqlBool>`exists (select 1 from unnest(i.footprint) as part where part && any(${polygonsText(parts)}::polygon[]))`
}

export const touchesBoxes = (boxes: readonly Bbox[]): Predicate => touches(boxes.map(rectangle))

/** The organization's ids and the ids of STAC are mostly the same; where not, a narrow index has the latter. */
export function hasId(ids: readonly string[]): Predicate {
  return sql<SqlBool>`i.id = any(${ids}::text[]) or (i.stac_id = any(${ids}::text[]) and i.stac_id <> i.id)`
}

/** Where a page ended: the values of its last item in the order, then its sequence number. */
export interface Cursor {
  values: readonly (string | number | null)[]
  seq: number
}

/** Everything that comes after the cursor in this order, in which what is missing counts as the least. */
export function comesAfter(orders: readonly Order[], { values, seq }: Cursor): Predicate {
  const last = orders[0]?.direction === 'asc' ? sql<SqlBool>`i.seq < ${seq}` : sql<SqlBool>`i.seq > ${seq}`
  return orders.reduceRight((after, order, index) => {
    const value = values[index] ?? null
    const [subject, given] = [collated(order), sql`${value}::${sql.raw(SQL_TYPES[order.kind])}`]
    const same = value === null ? sql`${subject} is null` : sql`${subject} = ${given}`
    const further =
      value === null
        ? order.direction === 'asc'
          ? sql`${subject} is not null`
          : sql`false`
        : order.direction === 'asc'
          ? sql`${subject} > ${given}`
          : sql`(${subject} < ${given} or ${subject} is null)`
    return sql<SqlBool>`(${further} or (${same} and ${after}))`
  }, last)
}

const SQL_TYPES = { text: 'text', number: 'float8', time: 'timestamptz' } as const

export const all = (predicates: readonly Predicate[]): Predicate =>
  predicates.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(predicates, sql`) and (`)})`
