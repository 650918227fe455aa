/**
 * Filters and sort orders of item search, from the request to SQL. Values and property names are passed as parameters only; the columns
 * a caller can name are listed in one table here.
 */
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { MAX_FILTER_NODES } from '#core/cql2.ts'
import { parseInstant, type Interval } from '#core/interval.ts'
import { invalidField, problem } from '#core/problem.ts'
import { polygonsText, rectangle, type Bbox, type Part } from './footprint.ts'

type Sql = RawBuilder<unknown>
type Predicate = RawBuilder<SqlBool>

export interface Column {
  /** An SQL expression over `i`; it never contains anything from a caller. */
  column: string
  kind: 'text' | 'number' | 'time'
}

/** Columns to filter and sort by, under STAC's name and ours. STAC fields compare what `toFeature` shows. */
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

/** The fields of an item that STAC clients see, under their STAC names: `id` is the STAC ID. */
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

/** Rejects an unknown field, because silently ignoring it would be worse. */
export function parseSort(
  sortby: readonly { field: string; direction?: 'asc' | 'desc' | undefined }[],
  columns: ReadonlyMap<string, Column> = COLUMNS,
): Order[] {
  return sortby.map(({ field, direction = 'asc' }) => {
    const column = columns.get(bare(field))
    if (!column) throw problem('bad-request', `Cannot sort by '${field.slice(0, 100)}'; use one of ${SORT_FIELDS.join(', ')}`)
    return { ...column, direction }
  })
}

export const collated = ({ column, kind }: Column): Sql => (kind === 'text' ? sql.raw(`${column} collate "C"`) : sql.raw(column))

/** A missing value sorts as the lowest, in every field. The sequence number breaks ties. */
export function orderBy(orders: readonly Order[]): Sql {
  const parts = orders.map((order) =>
    order.direction === 'asc' ? sql`${collated(order)} asc nulls first` : sql`${collated(order)} desc nulls last`,
  )
  return sql.join([...parts, orders[0]?.direction === 'asc' ? sql`i.seq desc` : sql`i.seq`])
}

const COMPARISONS = { eq: sql`=`, neq: sql`<>`, lt: sql`<`, lte: sql`<=`, gt: sql`>`, gte: sql`>=` } as const
/** Substring comparisons. */
const TEXT_MATCHES: Readonly<Record<string, (text: Sql, part: string) => Predicate>> = {
  startsWith: (text, part) => sql<SqlBool>`starts_with(${text}, ${part})`,
  endsWith: (text, part) => sql<SqlBool>`right(${text}, length(${part}::text)) = ${part}::text`,
  contains: (text, part) => sql<SqlBool>`strpos(${text}, ${part}) > 0`,
}
const OPERATORS: readonly string[] = [...Object.keys(COMPARISONS), 'in', ...Object.keys(TEXT_MATCHES)]

/** `{property: {operator: value}}`, as in the STAC Query extension. All conditions must hold; one on a missing property never does. */
export function parseQuery(query: Readonly<Record<string, unknown>>, columns: ReadonlyMap<string, Column> = COLUMNS): Predicate[] {
  let nodes = 0
  return Object.entries(query).flatMap(([name, conditions]) => {
    const field = `query.${name.slice(0, 100)}`
    if (conditions === null || typeof conditions !== 'object' || Array.isArray(conditions))
      throw invalidField(field, `must be an object with operators: ${OPERATORS.join(', ')}`)
    return Object.entries(conditions).map(([operator, value]) => {
      if (!OPERATORS.includes(operator))
        throw invalidField(`${field}.${operator.slice(0, 100)}`, `is not an operator; use one of ${OPERATORS.join(', ')}`)
      nodes += Array.isArray(value) ? value.length : 1
      if (nodes > MAX_FILTER_NODES) throw invalidField('query', `must have at most ${MAX_FILTER_NODES} conditions`)
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
  const operand = (input: unknown) => {
    if (kind === 'time' && typeof input === 'string') return parseInstant(input, field)
    if (kind === 'number' && numberIn(input) !== null) return numberIn(input)
    if (typeof input !== (kind === 'number' ? 'number' : 'string'))
      throw invalidField(field, kind === 'time' ? 'must be an RFC 3339 timestamp' : `must be a ${kind === 'text' ? 'string' : 'number'}`)
    return input
  }
  if (operator === 'in') return sql<SqlBool>`${subject} = any(${listOf(value, field).map(operand)})`
  const matches = TEXT_MATCHES[operator]
  if (matches) {
    if (kind !== 'text') throw invalidField(field, 'applies to strings only')
    return matches(sql.raw(column), textOf(value, field))
  }
  return sql<SqlBool>`${subject} ${COMPARISONS[operator as keyof typeof COMPARISONS]} ${operand(value)}`
}

/** A member of `properties`, by its full name or, if that contains dots, by its path. Compared within its JSON type. */
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

/** The number that a string spells, as sent by untyped clients; null if it is not a finite number. */
function numberIn(input: unknown): number | null {
  const value = typeof input === 'string' && NUMBER.test(input.trim()) ? Number(input) : Number.NaN
  return Number.isFinite(value) ? value : null
}

/** The value as JSON, and the number it spells if it is a string: an item can have either. */
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
 * An item without a datetime has an interval and matches if the two overlap. An item with neither matches by its registration time,
 * which is also what it shows.
 */
export function duringInterval({ from, to }: Interval): Predicate {
  const within = sql<SqlBool>`i.datetime between coalesce(${from}::timestamptz, '-infinity') and coalesce(${to}::timestamptz, 'infinity')`
  const overlaps = sql<SqlBool>`coalesce(i.start_datetime, i.end_datetime, i.created_at) <= coalesce(${to}::timestamptz, 'infinity')
    and coalesce(i.end_datetime, i.start_datetime, i.created_at) >= coalesce(${from}::timestamptz, '-infinity')`
  return sql<SqlBool>`case when i.datetime is null then ${overlaps} else ${within} end`
}

/** Exact: PostgreSQL compares the polygons, not their boxes. Touching counts. */
export function touches(parts: readonly Part[]): Predicate {
  return sql<SqlBool>`exists (select 1 from unnest(i.footprint) as part where part && any(${polygonsText(parts)}::polygon[]))`
}

export const touchesBoxes = (boxes: readonly Bbox[]): Predicate => touches(boxes.map(rectangle))

/** An item's ID and STAC ID are usually the same; if not, a small index has the latter. */
export function hasId(ids: readonly string[]): Predicate {
  return sql<SqlBool>`i.id = any(${ids}::text[]) or (i.stac_id = any(${ids}::text[]) and i.stac_id <> i.id)`
}

/** The end of a page: the sort values of its last item, then its sequence number. */
export interface Cursor {
  values: readonly (string | number | null)[]
  seq: number
}

/** Everything after the cursor in this order, where a missing value sorts as the lowest. */
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
