/** Operands of CQL2-JSON: strings with case and accent folding, and times. */
import type { Fold, Text, TimeEnd, TimeOperator, TimeSpan } from './cql2-tree.ts'
import { parseInstant, parseInterval } from './interval.ts'
import { invalidField, problem } from './problem.ts'

export const MAX_PROPERTY_LENGTH = 200
export const MAX_TEXT_LENGTH = 1_000
const MAX_FOLDS = 4
const FOLDS: readonly string[] = ['casei', 'accenti'] satisfies Fold[]

type Json = Readonly<Record<string, unknown>>
export const isObject = (value: unknown): value is Json => value !== null && typeof value === 'object' && !Array.isArray(value)

export function isProperty(value: unknown): value is { property: string } {
  if (!isObject(value)) return false
  const { property } = value
  return typeof property === 'string' && property.length > 0 && property.length <= MAX_PROPERTY_LENGTH
}

export const isFolded = (value: unknown): value is { op: Fold; args: unknown } => isObject(value) && FOLDS.includes(String(value['op']))

/** The problem for an unsupported function, by name. */
export function unknownFunction(value: unknown, at: string): Error | null {
  if (!isObject(value) || typeof value['op'] !== 'string') return null
  return problem('bad-request', `'${value['op'].slice(0, 60)}' is not a supported filter function; use one of ${FOLDS.join(', ')} (${at})`)
}

/** A string or a property, optionally in `casei` or `accenti`. */
export function textOperand(value: unknown, at: string): Text {
  const folds: Fold[] = []
  let inner = value
  while (isFolded(inner)) {
    if (folds.length === MAX_FOLDS) throw invalidField(at, `must have at most ${MAX_FOLDS} functions around a string`)
    folds.unshift(inner.op)
    if (!Array.isArray(inner.args) || inner.args.length !== 1) throw invalidField(at, `'${inner.op}' requires exactly 1 arg`)
    inner = (inner.args as unknown[])[0]
  }
  if (isProperty(inner)) return { value: { property: inner.property }, folds }
  if (typeof inner === 'string' && inner.length <= MAX_TEXT_LENGTH) return { value: inner, folds }
  throw unknownFunction(inner, at) ?? invalidField(at, `must be a property or a string of at most ${MAX_TEXT_LENGTH} characters`)
}

/** Operators that only make sense for intervals. */
const INTERVALS_ONLY: ReadonlySet<TimeOperator> = new Set([
  't_contains',
  't_during',
  't_finishedBy',
  't_finishes',
  't_meets',
  't_metBy',
  't_overlappedBy',
  't_overlaps',
  't_startedBy',
  't_starts',
])

/** A timestamp, a date, an interval of them, or properties that contain them. An item's `datetime` can be an interval. */
export function timeOperand(operator: TimeOperator, value: unknown, at: string): TimeSpan {
  if (isObject(value) && Array.isArray(value['interval'])) {
    const ends = value['interval'] as unknown[]
    if (ends.length !== 2) throw invalidField(at, 'must have exactly 2 ends')
    const [start, end] = [timeEnd(ends[0], at), timeEnd(ends[1], at)] as const
    if (typeof start === 'object' && 'from' in start && typeof end === 'object' && 'to' in end && start.from > end.to)
      throw invalidField(at, 'must not start after it ends')
    return { start, end }
  }
  const isItemsTime = isProperty(value) && value.property === 'datetime'
  if (INTERVALS_ONLY.has(operator) && !isItemsTime)
    throw problem('bad-request', `'${operator}' compares intervals such as INTERVAL('2026-01-01', '2026-02-01'), not timestamps (${at})`)
  const instant = timeEnd(value, at)
  if (instant === 'open') throw invalidField(at, 'must be a time; only the end of an interval can be open')
  return { start: instant, end: instant }
}

function timeEnd(value: unknown, at: string): TimeEnd {
  if (isProperty(value)) return { property: value.property }
  const text = isObject(value) ? (value['timestamp'] ?? value['date']) : value
  if (typeof text !== 'string')
    throw unknownFunction(value, at) ?? invalidField(at, 'must be an RFC 3339 timestamp, a date, a property, or ".." for an open end')
  if (text === '..' || text === '') return 'open'
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    const instant = parseInstant(text, at)
    return { from: instant, to: instant }
  }
  const { from, to } = parseInterval(text, at)
  return { from: from!, to: to! }
}
