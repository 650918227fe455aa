/** CQL2-JSON as callers send it, read into a small typed tree: what is not in the tree cannot be asked. */
import { requireGeometry, type Geometry } from './geometry.ts'
import { parseInstant, parseInterval, type Interval } from './interval.ts'
import { invalidField, problem } from './problem.ts'

export type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>='
export type Literal = string | number | boolean | Date

export type Arithmetic = '+' | '-' | '*' | '/' | '%' | 'div'
/** Arithmetic over numbers and properties. */
export type Numeric = number | { property: string } | { op: Arithmetic; left: Numeric; right: Numeric }
export type ArrayOperator = 'a_contains' | 'a_containedBy' | 'a_equals' | 'a_overlaps'

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
  | { op: ArrayOperator; property: string; values: readonly Literal[] }
  | { op: 's_intersects'; geometries: readonly Geometry[] }
  | { op: 't_intersects'; interval: Interval }

/** Of one filter: operators, properties and values together; of `query`, its conditions and the members of each `in`. */
export const MAX_FILTER_NODES = 100
export const MAX_FILTER_DEPTH = 20
export const MAX_GEOMETRIES = 50
/** Over all geometries of a filter: each is checked while nobody else is answered. */
export const MAX_FILTER_VERTICES = 3_000
const MAX_PROPERTY_LENGTH = 200
const MAX_TEXT_LENGTH = 1_000

/** What can stand between two values, and what it is called when the value comes first. */
const MIRRORED: Readonly<Record<Comparison, Comparison>> = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' }
/** What an array operator is called when the list comes first. */
const ARRAY_MIRRORED: Readonly<Record<ArrayOperator, ArrayOperator>> = {
  a_contains: 'a_containedBy',
  a_containedBy: 'a_contains',
  a_equals: 'a_equals',
  a_overlaps: 'a_overlaps',
}
const ARITHMETIC: readonly string[] = ['+', '-', '*', '/', '%', 'div'] satisfies Arithmetic[]
const OPERATORS = [
  'and',
  'or',
  'not',
  ...Object.keys(MIRRORED),
  'in',
  'between',
  'like',
  'isNull',
  's_intersects',
  't_intersects',
  ...Object.keys(ARRAY_MIRRORED),
]
/** The item's own geometry and time, under the names that clients give them. */
const GEOMETRY_NAMES = new Set(['geometry', 'footprint'])
const TIME_NAMES = new Set(['datetime', 'start_datetime', 'end_datetime'])

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => value !== null && typeof value === 'object' && !Array.isArray(value)

export function parseCql2(filter: unknown): Cql2 {
  return new Reader().expression(filter, 'filter', 1)
}

class Reader {
  #nodes = 0
  #vertices = 0

  #count(): void {
    if (++this.#nodes > MAX_FILTER_NODES) throw invalidField('filter', `has more than ${MAX_FILTER_NODES} operators, properties and values`)
  }

  expression(value: unknown, at: string, depth: number): Cql2 {
    this.#count()
    if (depth > MAX_FILTER_DEPTH) throw invalidField('filter', `nests deeper than ${MAX_FILTER_DEPTH} levels`)
    if (typeof value === 'boolean') return { op: 'constant', value }
    if (!isObject(value)) throw invalidField(at, 'must be an expression such as {"op": "=", "args": [{"property": "platform"}, "a"]}')
    const { op, args } = value
    if (typeof op !== 'string' || !Array.isArray(args)) throw invalidField(at, 'must have an op and a list of args')
    if (!OPERATORS.includes(op))
      throw problem('bad-request', `'${op.slice(0, 60)}' is not an operator or function of filters; they are ${OPERATORS.join(', ')}`)
    return this.#operator(op, args, at, depth)
  }

  #operator(op: string, args: readonly unknown[], at: string, depth: number): Cql2 {
    switch (op) {
      case 'and':
      case 'or':
        if (args.length < 2) throw invalidField(at, `'${op}' needs at least two args`)
        return { op, args: args.map((each, index) => this.expression(each, `${at}.args.${index}`, depth + 1)) }
      case 'not':
        return { op, arg: this.expression(only(args, 1, at)[0], `${at}.args.0`, depth + 1) }
      case 'isNull':
        return { op, property: this.#property(only(args, 1, at)[0], `${at}.args.0`) }
      case 'in':
        return this.#in(only(args, 2, at), at)
      case 'between': {
        const [first, ...ends] = args
        // Drafts of CQL2 had the two ends in a list of their own.
        const [subject, low, high] = only([first, ...(ends.length === 1 && Array.isArray(ends[0]) ? (ends[0] as unknown[]) : ends)], 3, at)
        return {
          op,
          property: this.#property(subject, `${at}.args.0`),
          low: this.#literal(low, `${at}.args.1`),
          high: this.#literal(high, `${at}.args.2`),
        }
      }
      case 'like': {
        const [subject, pattern] = only(args, 2, at)
        return { op, property: this.#property(subject, `${at}.args.0`), pattern: this.#pattern(pattern, `${at}.args.1`) }
      }
      case 's_intersects':
        return { op, geometries: this.#geometries(only(args, 2, at), at) }
      case 't_intersects':
        return { op, interval: this.#interval(only(args, 2, at), at) }
      case 'a_contains':
      case 'a_containedBy':
      case 'a_equals':
      case 'a_overlaps':
        return this.#array(op, only(args, 2, at), at)
      default:
        return this.#comparison(op as Comparison, only(args, 2, at), at)
    }
  }

  #array(op: ArrayOperator, [left, right]: readonly unknown[], at: string): Cql2 {
    const isMirrored = Array.isArray(left) && isProperty(right)
    const [subject, list] = isMirrored ? [right, left] : [left, right]
    const property = this.#property(subject, `${at}.args.0`)
    // In text a list of one value is that value in parentheses.
    const values: unknown[] = Array.isArray(list) ? list : [list]
    return {
      op: isMirrored ? ARRAY_MIRRORED[op] : op,
      property,
      values: values.map((each, index) => this.#literal(each, `${at}.args.1.${index}`)),
    }
  }

  #numeric(value: unknown, at: string, depth: number): Numeric {
    this.#count()
    if (depth > MAX_FILTER_DEPTH) throw invalidField('filter', `nests deeper than ${MAX_FILTER_DEPTH} levels`)
    if (typeof value === 'number' && Number.isFinite(value)) return value
    if (isProperty(value)) return { property: value.property }
    if (!isArithmetic(value))
      throw problem('bad-request', `Arithmetic works on numbers and properties, with ${ARITHMETIC.join(', ')} (${at})`)
    const [left, right] = only(value.args, 2, at)
    return {
      op: value.op,
      left: this.#numeric(left, `${at}.args.0`, depth + 1),
      right: this.#numeric(right, `${at}.args.1`, depth + 1),
    }
  }

  #comparison(comparison: Comparison, [left, right]: readonly unknown[], at: string): Cql2 {
    if ([left, right].some((each) => isArithmetic(each) || (isObject(each) && each['op'] === '^')))
      return {
        op: 'compute',
        comparison,
        left: this.#numeric(left, `${at}.args.0`, 1),
        right: this.#numeric(right, `${at}.args.1`, 1),
      }
    const isMirrored = !isProperty(left) && isProperty(right)
    const [subject, value] = isMirrored ? [right, left] : [left, right]
    return {
      op: 'compare',
      comparison: isMirrored ? MIRRORED[comparison] : comparison,
      property: this.#property(subject, `${at}.args.0`),
      value: this.#literal(value, `${at}.args.1`),
    }
  }

  #in([subject, list]: readonly unknown[], at: string): Cql2 {
    const property = this.#property(subject, `${at}.args.0`)
    if (!Array.isArray(list) || list.length === 0) throw invalidField(`${at}.args.1`, 'must be a list with at least one value')
    return { op: 'in', property, values: list.map((each: unknown, index) => this.#literal(each, `${at}.args.1.${index}`)) }
  }

  #property(value: unknown, at: string): string {
    this.#count()
    if (isProperty(value)) return value.property
    if (isObject(value) && typeof value['op'] === 'string')
      throw problem('bad-request', `Functions cannot be compared: '${value['op'].slice(0, 60)}' at ${at}`)
    throw invalidField(at, `must be {"property": name} with a name of 1 to ${MAX_PROPERTY_LENGTH} characters`)
  }

  #literal(value: unknown, at: string): Literal {
    this.#count()
    if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value
    if (typeof value === 'string' && value.length <= MAX_TEXT_LENGTH) return value
    if (isObject(value) && typeof value['timestamp'] === 'string') return parseInstant(value['timestamp'], at)
    if (isObject(value) && typeof value['date'] === 'string') return parseInterval(value['date'], at).from!
    if (isProperty(value)) throw problem('bad-request', `Two properties cannot be compared with each other (${at})`)
    throw invalidField(at, `must be a number, a boolean, a text of at most ${MAX_TEXT_LENGTH} characters, {"timestamp": …} or {"date": …}`)
  }

  #pattern(value: unknown, at: string): string {
    const pattern = this.#literal(value, at)
    if (typeof pattern !== 'string') throw invalidField(at, 'must be a text; % stands for any characters and _ for one')
    if (/(^|[^\\])(\\\\)*\\$/.test(pattern)) throw invalidField(at, 'ends with a backslash, which must stand before the character it keeps')
    return pattern
  }

  #geometries(args: readonly unknown[], at: string): Geometry[] {
    this.#count()
    const index = args.findIndex((each) => isProperty(each) && GEOMETRY_NAMES.has(each.property))
    if (index === -1) throw problem('bad-request', `s_intersects compares {"property": "geometry"} with a geometry (${at})`)
    return this.#requireGeometries(args[1 - index], `${at}.args.${1 - index}`)
  }

  /** Any geometry, a collection of them included, as a flat list. */
  #requireGeometries(value: unknown, field: string): Geometry[] {
    const found: Geometry[] = []
    const waiting: unknown[] = [value]
    for (let seen = 0; waiting.length > 0; seen++) {
      if (seen > MAX_GEOMETRIES) throw invalidField(field, `has more than ${MAX_GEOMETRIES} geometries`)
      const each = waiting.shift()
      const members = isObject(each) && each['type'] === 'GeometryCollection' ? each['geometries'] : null
      if (Array.isArray(members)) waiting.push(...(members.slice(0, MAX_GEOMETRIES + 1) as unknown[]))
      else
        found.push(
          this.#counted(requireGeometry(isObject(each) && 'bbox' in each && !('type' in each) ? boxOf(each['bbox'], field) : each, field)),
        )
    }
    if (found.length === 0) throw invalidField(field, 'has no geometries')
    return found
  }

  #counted(geometry: Geometry): Geometry {
    this.#vertices += (geometry.coordinates as unknown[]).flat(3).length / 2
    if (this.#vertices > MAX_FILTER_VERTICES)
      throw invalidField('filter', `has geometries of more than ${MAX_FILTER_VERTICES} vertices together; simplify them`)
    return geometry
  }

  #interval([subject, value]: readonly unknown[], at: string): Interval {
    this.#count()
    const names = isObject(subject) && Array.isArray(subject['interval']) ? (subject['interval'] as unknown[]) : [subject]
    if (!names.every((each) => isProperty(each) && TIME_NAMES.has(each.property)))
      throw problem('bad-request', `t_intersects compares {"property": "datetime"} with a time or an interval (${at})`)
    const field = `${at}.args.1`
    if (isObject(value) && Array.isArray(value['interval'])) {
      const ends = only(value['interval'], 2, field).map((each) => textOfTime(each, field))
      return parseInterval(ends.join('/'), field)
    }
    return parseInterval(textOfTime(value, field), field)
  }
}

function only(args: readonly unknown[], count: number, at: string): readonly unknown[] {
  if (args.length !== count) throw invalidField(at, `needs exactly ${count} args`)
  return args
}

function isProperty(value: unknown): value is { property: string } {
  if (!isObject(value)) return false
  const { property } = value
  return typeof property === 'string' && property.length > 0 && property.length <= MAX_PROPERTY_LENGTH
}

function isArithmetic(value: unknown): value is { op: Arithmetic; args: readonly unknown[] } {
  return isObject(value) && ARITHMETIC.includes(String(value['op'])) && Array.isArray(value['args'])
}

function textOfTime(value: unknown, at: string): string {
  const text = isObject(value) ? (value['timestamp'] ?? value['date']) : value
  if (typeof text !== 'string') throw invalidField(at, 'must be an RFC 3339 instant, a date, or ".." for an open end')
  return text
}

/** The rectangle of `{"bbox": […]}`, in two parts where it crosses the antimeridian; heights are left out. */
function boxOf(bbox: unknown, field: string): object {
  const isBox = Array.isArray(bbox) && (bbox.length === 4 || bbox.length === 6) && bbox.every((each) => Number.isFinite(each))
  if (!isBox) throw invalidField(`${field}.bbox`, 'must be four numbers (west, south, east, north), or six with heights')
  const [west, south] = bbox as [number, number]
  const [east, north] = bbox.slice(bbox.length / 2) as [number, number]
  const ring = (from: number, to: number) => [
    [
      [from, south],
      [to, south],
      [to, north],
      [from, north],
      [from, south],
    ],
  ]
  if (west > east) return { type: 'MultiPolygon', coordinates: [ring(west, 180), ring(-180, east)] }
  return { type: 'Polygon', coordinates: ring(west, east) }
}

const numericProperties = (value: Numeric): string[] =>
  typeof value === 'number' ? [] : 'property' in value ? [value.property] : [value.left, value.right].flatMap(numericProperties)

/** Every property that a filter names. */
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
    default:
      return []
  }
}
