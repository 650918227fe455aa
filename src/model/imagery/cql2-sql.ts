/** CQL2 to SQL. The tree is typed and its values are parameters; a value that an item lacks is unknown, as null in SQL. */
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import {
  propertiesIn,
  type Arithmetic,
  type ArrayOperator,
  type Comparison,
  type Cql2,
  type Literal,
  type Numeric,
} from '#core/cql2-tree.ts'
import type { Geometry } from '#core/geometry.ts'
import { parseInstant } from '#core/interval.ts'
import { problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import { partsOf, type Part } from './footprint.ts'
import { columnOf, COMPARISONS, ofTexts, ofTimes } from './cql2-operands.ts'
import { all, bare, collated, duringInterval, propertyOf, STAC_COLUMNS, touches, type Column } from './item-filter.ts'
import type { SearchMemory } from './search-memory.ts'

type Predicate = RawBuilder<SqlBool>

/** `related` maps each relation to its items, as found by `itemsRelated`. */
export function toSql(node: Cql2, related: ReadonlyMap<Cql2, readonly number[]>): Predicate {
  switch (node.op) {
    case 'and':
      return all(node.args.map((each) => toSql(each, related)))
    case 'or':
      return sql<SqlBool>`((${sql.join(
        node.args.map((each) => toSql(each, related)),
        sql`) or (`,
      )}))`
    case 'not':
      return sql<SqlBool>`not (${toSql(node.arg, related)})`
    case 'constant':
      return node.value ? sql<SqlBool>`true` : sql<SqlBool>`false`
    case 'compare':
      return compared(node.property, node.comparison, node.value)
    case 'in':
      return sql<SqlBool>`((${sql.join(
        node.values.map((value) => compared(node.property, '=', value)),
        sql`) or (`,
      )}))`
    case 'between':
      return all([compared(node.property, '>=', node.low), compared(node.property, '<=', node.high)])
    case 'like':
      return like(node.property, node.pattern)
    case 'isNull':
      return isNull(node.property)
    case 'compute':
      return sql<SqlBool>`${computed(node.left)} ${COMPARISONS[node.comparison]} ${computed(node.right)}`
    case 'a_contains':
    case 'a_containedBy':
    case 'a_equals':
    case 'a_overlaps':
      return ofArray(node.op, node.property, node.values)
    case 'text':
      return ofTexts(node.comparison, node.left, node.right)
    case 'time':
      return ofTimes(node.operator, node.left, node.right)
    case 's_intersects':
      return sql<SqlBool>`case when i.footprint is not null then ${touches(shapesOf(node.geometries))} end`
    case 's_relate':
      return sql<SqlBool>`case when i.footprint is not null then i.seq = any(${related.get(node) ?? []}::bigint[]) end`
    case 's_disjoint':
      return sql<SqlBool>`case when i.footprint is not null then not ${touches(shapesOf(node.geometries))} end`
    case 't_intersects':
      return duringInterval(node.interval)
  }
}

export const shapesOf = (geometries: readonly Geometry[]): Part[] => geometries.flatMap((geometry) => partsOf(geometry, false))

function compared(property: string, comparison: Comparison, value: Literal): Predicate {
  const column = columnOf(property)
  const operator = COMPARISONS[comparison]
  if (column) return sql<SqlBool>`${collated(column)} ${operator} ${valueFor(column, property, value)}`
  const subject = propertyOf(bare(property))
  if (value instanceof Date) throw problem('bad-request', `'${property}' is not a timestamp; compare it with a string`)
  // Comparing different JSON types is unknown, neither true nor false.
  if (typeof value === 'string')
    return sql<SqlBool>`case when jsonb_typeof(${subject}) = 'string' then (${subject} #>> '{}') collate "C" ${operator} ${value}::text end`
  const [type, json] = [typeof value, JSON.stringify(value)]
  return sql<SqlBool>`case when jsonb_typeof(${subject}) = ${type}::text then ${subject} ${operator} ${json}::jsonb end`
}

const ARITHMETIC: Readonly<Record<Arithmetic, (left: RawBuilder<unknown>, right: RawBuilder<unknown>) => RawBuilder<unknown>>> = {
  '+': (left, right) => sql`(${left} + ${right})`,
  '-': (left, right) => sql`(${left} - ${right})`,
  '*': (left, right) => sql`(${left} * ${right})`,
  '/': (left, right) => sql`(${left} / nullif(${right}, 0))`,
  '%': (left, right) => sql`mod(${left}, nullif(${right}, 0))`,
  div: (left, right) => sql`div(${left}, nullif(${right}, 0))`,
  '^': (left, right) => sql`(
    select case
      when abs(base) > 1e300 or abs(exponent) > 1e300 then null
      when abs(base) between 1e-300 and 1e300 then
        case
          when base < 0 and exponent <> trunc(exponent) then null
          when abs(exponent * ln(abs(base))) < 690 then power(base::float8, exponent::float8)::numeric
        end
      when base = 0 and exponent > 0 then 0
      when base = 0 and exponent = 0 then 1
    end
    from (values (${left}, ${right})) as term (base, exponent)
  )`,
}

/** Uses numerics, which do not overflow. Non-numbers, division by zero and undefined powers are unknown. */
function computed(value: Numeric): RawBuilder<unknown> {
  if (typeof value === 'number') return sql`${value}::float8::numeric`
  if ('op' in value) return ARITHMETIC[value.op](computed(value.left), computed(value.right))
  const column = columnOf(value.property)
  if (column && column.kind !== 'number')
    throw problem('bad-request', `'${value.property}' is not a number, so it cannot be used in arithmetic`)
  if (column) return sql`${sql.raw(column.column)}::numeric`
  const subject = propertyOf(bare(value.property))
  return sql`(case when jsonb_typeof(${subject}) = 'number' then (${subject} #>> '{}')::numeric end)`
}

/** For properties that are lists; order and duplicates do not matter. */
function ofArray(operator: ArrayOperator, property: string, values: readonly Literal[]): Predicate {
  if (columnOf(property)) throw problem('bad-request', `'${property}' is not a list`)
  if (values.some((value) => value instanceof Date))
    throw problem('bad-request', `'${property}' can only be compared with strings, numbers and booleans`)
  const [subject, list] = [propertyOf(bare(property)), JSON.stringify(values)]
  const within = {
    a_contains: sql`${subject} @> ${list}::jsonb`,
    a_containedBy: sql`${subject} <@ ${list}::jsonb`,
    a_equals: sql`(${subject} @> ${list}::jsonb and ${subject} <@ ${list}::jsonb)`,
    a_overlaps: sql`exists (select 1 from jsonb_array_elements(${subject}) as member where ${list}::jsonb @> jsonb_build_array(member))`,
  }[operator]
  return sql<SqlBool>`case when jsonb_typeof(${subject}) = 'array' then ${within} end`
}

function valueFor({ kind }: Column, property: string, value: Literal): RawBuilder<unknown> {
  const wrong = (expected: string) => problem('bad-request', `'${property}' must be compared with ${expected}`)
  if (kind === 'time') {
    if (value instanceof Date) return sql`${value}::timestamptz`
    if (typeof value !== 'string') throw wrong('a timestamp')
    return sql`${parseInstant(value, `filter on ${property}`)}::timestamptz`
  }
  if (kind === 'number') {
    if (typeof value !== 'number') throw wrong('a number')
    return sql`${value}::float8`
  }
  if (typeof value !== 'string') throw wrong('a string')
  return sql`${value}::text`
}

function like(property: string, pattern: string): Predicate {
  const column = columnOf(property)
  if (column && column.kind !== 'text') throw problem('bad-request', `'${property}' is not a string, so 'like' does not apply`)
  if (column) return sql<SqlBool>`${collated(column)} like ${pattern}::text`
  const subject = propertyOf(bare(property))
  return sql<SqlBool>`case when jsonb_typeof(${subject}) = 'string' then (${subject} #>> '{}') collate "C" like ${pattern}::text end`
}

/** A property with the value null is null too. */
function isNull(property: string): Predicate {
  if (property === 'geometry') return sql<SqlBool>`i.geometry is null`
  const column = columnOf(property)
  if (column) return sql<SqlBool>`${sql.raw(column.column)} is null`
  return sql<SqlBool>`coalesce(jsonb_typeof(${propertyOf(bare(property))}), 'null') = 'null'`
}

const LOOK_TIMEOUT_MS = 500
const QUERY_CANCELED = '57014'

/**
 * Properties are free-form, so a name is known if an item of the organization has it. A long search for it in a large archive is cut
 * short, and the name then counts as known: the query itself has its own limit.
 */
export async function requireKnownProperties(db: Db, { properties }: SearchMemory, organizationId: string, filter: Cql2): Promise<void> {
  const free = [...new Set(propertiesIn(filter).map(bare))].filter((name) => name !== 'geometry' && !STAC_COLUMNS.has(name))
  if (free.length === 0) return
  for (const name of free) {
    const key = `${organizationId} ${name}`
    if (properties.get(key)) continue
    const exists = await hasProperty(db, organizationId, name)
    if (exists === false) throw problem('bad-request', `No item has the property '${name.slice(0, 100)}'; see /stac/queryables`)
    if (exists) properties.set(key, true)
  }
}

async function hasProperty(db: Db, organizationId: string, name: string): Promise<boolean | null> {
  try {
    return await db.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = ${sql.lit(LOOK_TIMEOUT_MS)}`.execute(tx)
      const { rows } = await sql`
        select 1 from item i where i.org_id = ${organizationId} and i.deleted_at is null and ${propertyOf(name)} is not null limit 1
      `.execute(tx)
      return rows.length > 0
    })
  } catch (error) {
    if ((error as { code?: string }).code === QUERY_CANCELED) return null
    throw error
  }
}
