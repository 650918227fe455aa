/** Strings and times of CQL2 in SQL. A value that an item lacks, or has in another type, is unknown (null). */
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Comparison, Fold, Text, TimeEnd, TimeOperator, TimeSpan } from '#core/cql2-tree.ts'
import { problem } from '#core/problem.ts'
import { bare, propertyOf, STAC_COLUMNS, type Column } from './item-filter.ts'

type Sql = RawBuilder<unknown>
type Predicate = RawBuilder<SqlBool>

export const COMPARISONS = { '=': sql`=`, '<>': sql`<>`, '<': sql`<`, '<=': sql`<=`, '>': sql`>`, '>=': sql`>=` } as const

export const columnOf = (property: string): Column | undefined => STAC_COLUMNS.get(bare(property))

/** Combining marks such as accents. */
const MARKS = String.raw`[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]`

/** Folds case through upper case, so that ß equals SS; a final sigma equals any other. */
const FOLDS: Readonly<Record<Fold, (text: Sql) => Sql>> = {
  casei: (text) => sql`translate(lower(upper(${text} collate "und-x-icu") collate "und-x-icu"), 'ς', 'σ')`,
  accenti: (text) => sql`normalize(regexp_replace(normalize(${text}, nfd), ${MARKS}::text, '', 'g'), nfc)`,
}

export function ofTexts(comparison: Comparison | 'like', left: Text, right: Text): Predicate {
  const operator = comparison === 'like' ? sql`like` : COMPARISONS[comparison]
  return sql<SqlBool>`(${textOf(left)}) collate "C" ${operator} (${textOf(right)}) collate "C"`
}

function textOf({ value, folds }: Text): Sql {
  return folds.reduce((inner, fold) => FOLDS[fold](inner), typeof value === 'string' ? sql`${value}::text` : textIn(value.property))
}

function textIn(property: string): Sql {
  const column = columnOf(property)
  if (column && column.kind !== 'text') throw problem('bad-request', `'${property}' is not a string, so it has neither case nor accents`)
  if (column) return sql`(${sql.raw(column.column)})`
  const subject = propertyOf(bare(property))
  return sql`(case when jsonb_typeof(${subject}) = 'string' then ${subject} #>> '{}' end)`
}

const DAY = String.raw`^\d{4}-\d\d-\d\d$`

/** The first and last moment of an interval's end: they differ for a day and are the same for an instant. */
interface Moments {
  first: Sql
  last: Sql
}

interface Times {
  start: Moments
  end: Moments
}

/** As in OWL-Time. Intervals include their ends; if one ends on the day on which another starts, they meet. */
const RELATIONS: Readonly<Record<TimeOperator, (a: Times, b: Times) => Sql>> = {
  t_after: (a, b) => sql`${a.start.first} > ${b.end.last}`,
  t_before: (a, b) => sql`${a.end.last} < ${b.start.first}`,
  t_disjoint: (a, b) => sql`${a.end.last} < ${b.start.first} or ${a.start.first} > ${b.end.last}`,
  t_intersects: (a, b) => sql`${a.start.first} <= ${b.end.last} and ${a.end.last} >= ${b.start.first}`,
  t_equals: (a, b) => sql`${a.start.first} = ${b.start.first} and ${a.end.last} = ${b.end.last}`,
  t_contains: (a, b) => sql`${a.start.first} < ${b.start.first} and ${a.end.last} > ${b.end.last}`,
  t_during: (a, b) => RELATIONS.t_contains(b, a),
  t_finishes: (a, b) => sql`${a.start.first} > ${b.start.first} and ${a.end.last} = ${b.end.last}`,
  t_finishedBy: (a, b) => RELATIONS.t_finishes(b, a),
  t_meets: (a, b) => sql`${a.end.first} = ${b.start.first}`,
  t_metBy: (a, b) => RELATIONS.t_meets(b, a),
  t_overlaps: (a, b) => sql`${a.start.first} < ${b.start.first} and ${a.end.first} > ${b.start.first} and ${a.end.last} < ${b.end.last}`,
  t_overlappedBy: (a, b) => RELATIONS.t_overlaps(b, a),
  t_starts: (a, b) => sql`${a.start.first} = ${b.start.first} and ${a.end.last} < ${b.end.last}`,
  t_startedBy: (a, b) => RELATIONS.t_starts(b, a),
}

export const ofTimes = (operator: TimeOperator, left: TimeSpan, right: TimeSpan): Predicate =>
  sql<SqlBool>`(${RELATIONS[operator](timesOf(left), timesOf(right))})`

const timesOf = ({ start, end }: TimeSpan): Times => ({ start: momentsOf(start, 'start'), end: momentsOf(end, 'end') })

function momentsOf(end: TimeEnd, side: 'start' | 'end'): Moments {
  const same = (moment: Sql): Moments => ({ first: moment, last: moment })
  if (end === 'open') return same(side === 'start' ? sql`'-infinity'::timestamptz` : sql`'infinity'::timestamptz`)
  if ('from' in end) return { first: sql`${end.from}::timestamptz`, last: sql`${end.to}::timestamptz` }
  // An item without a datetime has an interval; one with neither uses its registration time.
  if (end.property === 'datetime')
    return same(
      side === 'start'
        ? sql`coalesce(i.datetime, i.start_datetime, i.end_datetime, i.created_at)`
        : sql`coalesce(i.datetime, i.end_datetime, i.start_datetime, i.created_at)`,
    )
  const column = columnOf(end.property)
  if (column && column.kind !== 'time') throw problem('bad-request', `'${end.property}' is not a time`)
  if (column) return same(sql.raw(column.column))
  const subject = propertyOf(bare(end.property))
  const text = sql`(${subject} #>> '{}')`
  const onDay = (time: string): Sql =>
    sql`stated_instant(case when ${text} ~ ${DAY}::text then to_jsonb(${text} || ${time}::text) else ${subject} end)`
  return { first: onDay('T00:00:00Z'), last: onDay('T23:59:59.999Z') }
}
