/** CQL2 filters as a small typed tree; it can only express what is supported. */
import type { Geometry } from './geometry.ts'
import type { Interval } from './interval.ts'
import type { SpatialRelation } from './relate.ts'

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>='
export type Literal = string | number | boolean | Date

export type Arithmetic = '+' | '-' | '*' | '/' | '%' | 'div' | '^'
/** Arithmetic over numbers and properties. */
export type Numeric = number | { property: string } | { op: Arithmetic; left: Numeric; right: Numeric }
export type ArrayOperator = 'a_contains' | 'a_containedBy' | 'a_equals' | 'a_overlaps'

/** Functions that ignore case or accents. */
export type Fold = 'casei' | 'accenti'
export interface Text {
  value: string | { property: string }
  /** Innermost first. */
  folds: readonly Fold[]
}

export const TIME_OPERATORS = [
  't_after',
  't_before',
  't_contains',
  't_disjoint',
  't_during',
  't_equals',
  't_finishedBy',
  't_finishes',
  't_intersects',
  't_meets',
  't_metBy',
  't_overlappedBy',
  't_overlaps',
  't_startedBy',
  't_starts',
] as const
export type TimeOperator = (typeof TIME_OPERATORS)[number]

/** The start or end of a time: a timestamp, a date, open, or the value of a property. */
export type TimeEnd = { from: Date; to: Date } | { property: string } | 'open'
/** For a timestamp, both ends are the same. */
export interface TimeSpan {
  start: TimeEnd
  end: TimeEnd
}

/** A spatial relation to an item's geometry. The matching items are determined before the search. */
export interface Related {
  op: 's_relate'
  relation: SpatialRelation
  geometry: Geometry
}

export type Cql2 =
  | { op: 'and' | 'or'; args: readonly Cql2[] }
  | { op: 'not'; arg: Cql2 }
  | { op: 'constant'; value: boolean }
  | { op: 'compare'; comparison: Comparison; property: string; value: Literal }
  | { op: 'in'; property: string; values: readonly Literal[] }
  | { op: 'between'; property: string; low: Literal; high: Literal }
  | { op: 'like'; property: string; pattern: string }
  | { op: 'isNull'; property: string }
  | { op: 'compute'; comparison: Comparison; left: Numeric; right: Numeric }
  | { op: 'text'; comparison: Comparison | 'like'; left: Text; right: Text }
  | { op: ArrayOperator; property: string; values: readonly Literal[] }
  | { op: 's_intersects' | 's_disjoint'; geometries: readonly Geometry[] }
  | Related
  | { op: 't_intersects'; interval: Interval }
  | { op: 'time'; operator: TimeOperator; left: TimeSpan; right: TimeSpan }

const numericProperties = (value: Numeric): string[] =>
  typeof value === 'number' ? [] : 'property' in value ? [value.property] : [value.left, value.right].flatMap(numericProperties)

const named = (value: unknown): string[] =>
  typeof value === 'object' && value !== null && 'property' in value ? [String(value.property)] : []

export function relatedIn(node: Cql2): Related[] {
  if (node.op === 'and' || node.op === 'or') return node.args.flatMap(relatedIn)
  if (node.op === 'not') return relatedIn(node.arg)
  return node.op === 's_relate' ? [node] : []
}

/** All properties that a filter names. */
export function propertiesIn(node: Cql2): string[] {
  switch (node.op) {
    case 'and':
    case 'or':
      return node.args.flatMap(propertiesIn)
    case 'not':
      return propertiesIn(node.arg)
    case 'compare':
    case 'in':
    case 'between':
    case 'like':
    case 'isNull':
    case 'a_contains':
    case 'a_containedBy':
    case 'a_equals':
    case 'a_overlaps':
      return [node.property]
    case 'compute':
      return [node.left, node.right].flatMap(numericProperties)
    case 'text':
      return [node.left.value, node.right.value].flatMap(named)
    case 'time':
      return [node.left, node.right].flatMap(({ start, end }) => [start, end]).flatMap(named)
    default:
      return []
  }
}
