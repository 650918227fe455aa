/** Parses CQL2-JSON from callers into the tree of `cql2-tree.ts`. */
import {
  isFolded,
  isObject,
  isProperty,
  MAX_PROPERTY_LENGTH,
  MAX_TEXT_LENGTH,
  textOperand,
  timeOperand,
  unknownFunction,
} from './cql2-operands.ts'
import {
  TIME_OPERATORS,
  type Arithmetic,
  type ArrayOperator,
  type Comparison,
  type Cql2,
  type Literal,
  type Numeric,
  type TimeOperator,
} from './cql2-tree.ts'
import { requireGeometry, type Geometry } from './geometry.ts'
import { parseInstant, parseInterval, type Interval } from './interval.ts'
import { areDisjoint, holds, shapeOf, SPATIAL_RELATIONS, type SpatialRelation } from './relate.ts'
import { invalidField, problem } from './problem.ts'

/** Of one filter: operators, properties and values together; of `query`: conditions and the members of each `in`. */
export const MAX_FILTER_NODES = 100
export const MAX_FILTER_DEPTH = 20
export const MAX_GEOMETRIES = 50
/** Over all geometries of a filter, because validating them blocks the event loop. */
export const MAX_FILTER_VERTICES = 3_000

/** Comparison operators, and their mirror images for when the value comes first. */
const MIRRORED: Readonly<Record<Comparison, Comparison>> = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' }
/** The array operator for when the list comes first. */
const ARRAY_MIRRORED: Readonly<Record<ArrayOperator, ArrayOperator>> = {
  a_contains: 'a_containedBy',
  a_containedBy: 'a_contains',
  a_equals: 'a_equals',
  a_overlaps: 'a_overlaps',
}
/** The relation for when the item's geometry comes second; the others are symmetric. */
const RELATION_MIRRORED: Partial<Record<SpatialRelation, SpatialRelation>> = { s_contains: 's_within', s_within: 's_contains' }
const ARITHMETIC: readonly string[] = ['+', '-', '*', '/', '%', 'div', '^'] satisfies Arithmetic[]
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
  's_disjoint',
  ...SPATIAL_RELATIONS,
  ...TIME_OPERATORS,
  ...Object.keys(ARRAY_MIRRORED),
]
/** The item's own geometry and time, under the names that clients use. */
const GEOMETRY_NAMES = new Set(['geometry', 'footprint'])
const TIME_NAMES = new Set(['datetime', 'start_datetime', 'end_datetime'])

export function parseCql2(filter: unknown): Cql2 {
  return new Reader().expression(filter, 'filter', 1)
}

class Reader {
  #nodes = 0
  #vertices = 0

  #count(): void {
    if (++this.#nodes > MAX_FILTER_NODES)
      throw invalidField('filter', `must have at most ${MAX_FILTER_NODES} operators, properties and values`)
  }

  expression(value: unknown, at: string, depth: number): Cql2 {
    this.#count()
    if (depth > MAX_FILTER_DEPTH) throw invalidField('filter', `must not be nested deeper than ${MAX_FILTER_DEPTH} levels`)
    if (typeof value === 'boolean') return { op: 'constant', value }
    if (!isObject(value)) throw invalidField(at, 'must be an expression such as {"op": "=", "args": [{"property": "platform"}, "a"]}')
    const { op, args } = value
    if (typeof op !== 'string' || !Array.isArray(args)) throw invalidField(at, 'must have an op and a list of args')
    if (!OPERATORS.includes(op))
      throw problem(
        'bad-request',
        `'${op.slice(0, 60)}' is not a supported filter operator or function; use one of ${OPERATORS.join(', ')}`,
      )
    return this.#operator(op, args, at, depth)
  }

  #operator(op: string, args: readonly unknown[], at: string, depth: number): Cql2 {
    switch (op) {
      case 'and':
      case 'or':
        if (args.length < 2) throw invalidField(at, `'${op}' requires at least 2 args`)
        return { op, args: args.map((each, index) => this.expression(each, `${at}.args.${index}`, depth + 1)) }
      case 'not':
        return { op, arg: this.expression(only(args, 1, at)[0], `${at}.args.0`, depth + 1) }
      case 'isNull':
        return { op, property: this.#property(only(args, 1, at)[0], `${at}.args.0`) }
      case 'in':
        return this.#in(only(args, 2, at), at)
      case 'between': {
        const [first, ...ends] = args
        // Drafts of CQL2 had the two ends in a separate list.
        const [subject, low, high] = only([first, ...(ends.length === 1 && Array.isArray(ends[0]) ? (ends[0] as unknown[]) : ends)], 3, at)
        if ([subject, low, high].some(isFolded))
          return { op: 'and', args: [this.#text('>=', [subject, low], at), this.#text('<=', [subject, high], at)] }
        return {
          op,
          property: this.#property(subject, `${at}.args.0`),
          low: this.#literal(low, `${at}.args.1`),
          high: this.#literal(high, `${at}.args.2`),
        }
      }
      case 'like': {
        const [subject, pattern] = only(args, 2, at)
        if (isFolded(subject) || isFolded(pattern)) return this.#text('like', [subject, pattern], at)
        return { op, property: this.#property(subject, `${at}.args.0`), pattern: this.#pattern(pattern, `${at}.args.1`) }
      }
      case 's_intersects':
      case 's_disjoint':
        return this.#touching(op, only(args, 2, at), at)
      case 'a_contains':
      case 'a_containedBy':
      case 'a_equals':
      case 'a_overlaps':
        return this.#array(op, only(args, 2, at), at)
      default:
        if (SPATIAL_RELATIONS.includes(op as SpatialRelation)) return this.#related(op as SpatialRelation, only(args, 2, at), at)
        if (TIME_OPERATORS.includes(op as TimeOperator)) return this.#time(op as TimeOperator, only(args, 2, at), at)
        return this.#comparison(op as Comparison, only(args, 2, at), at)
    }
  }

  #array(op: ArrayOperator, [left, right]: readonly unknown[], at: string): Cql2 {
    const isMirrored = Array.isArray(left) && isProperty(right)
    const [subject, list] = isMirrored ? [right, left] : [left, right]
    const property = this.#property(subject, `${at}.args.0`)
    // In CQL2-Text, a list with one value is that value in parentheses.
    const values: unknown[] = Array.isArray(list) ? list : [list]
    return {
      op: isMirrored ? ARRAY_MIRRORED[op] : op,
      property,
      values: values.map((each, index) => this.#literal(each, `${at}.args.1.${index}`)),
    }
  }

  #numeric(value: unknown, at: string, depth: number): Numeric {
    this.#count()
    if (depth > MAX_FILTER_DEPTH) throw invalidField('filter', `must not be nested deeper than ${MAX_FILTER_DEPTH} levels`)
    if (typeof value === 'number' && Number.isFinite(value)) return value
    if (isProperty(value)) return { property: value.property }
    if (!isArithmetic(value))
      throw problem('bad-request', `Arithmetic only supports numbers and properties, with ${ARITHMETIC.join(', ')} (${at})`)
    const [left, right] = only(value.args, 2, at)
    return {
      op: value.op,
      left: this.#numeric(left, `${at}.args.0`, depth + 1),
      right: this.#numeric(right, `${at}.args.1`, depth + 1),
    }
  }

  #comparison(comparison: Comparison, [left, right]: readonly unknown[], at: string): Cql2 {
    if (isFolded(left) || isFolded(right)) return this.#text(comparison, [left, right], at)
    if (isArithmetic(left) || isArithmetic(right))
      return {
        op: 'compute',
        comparison,
        left: this.#numeric(left, `${at}.args.0`, 1),
        right: this.#numeric(right, `${at}.args.1`, 1),
      }
    const fault = unknownFunction(left, `${at}.args.0`) ?? unknownFunction(right, `${at}.args.1`)
    if (fault) throw fault
    const isMirrored = !isProperty(left) && isProperty(right)
    const [subject, value] = isMirrored ? [right, left] : [left, right]
    return {
      op: 'compare',
      comparison: isMirrored ? MIRRORED[comparison] : comparison,
      property: this.#property(subject, `${at}.args.0`),
      value: this.#literal(value, `${at}.args.1`),
    }
  }

  #text(comparison: Comparison | 'like', [left, right]: readonly unknown[], at: string): Cql2 {
    this.#count()
    this.#count()
    const operand = textOperand(right, `${at}.args.1`)
    if (comparison === 'like') this.#pattern(operand.value, `${at}.args.1`)
    return { op: 'text', comparison, left: textOperand(left, `${at}.args.0`), right: operand }
  }

  #in([subject, list]: readonly unknown[], at: string): Cql2 {
    if (!Array.isArray(list) || list.length === 0) throw invalidField(`${at}.args.1`, 'must be a list with at least one value')
    if (isFolded(subject) || list.some(isFolded))
      return { op: 'or', args: list.map((each: unknown) => this.#text('=', [subject, each], at)) }
    const property = this.#property(subject, `${at}.args.0`)
    return { op: 'in', property, values: list.map((each: unknown, index) => this.#literal(each, `${at}.args.1.${index}`)) }
  }

  #property(value: unknown, at: string): string {
    this.#count()
    if (isProperty(value)) return value.property
    throw unknownFunction(value, at) ?? invalidField(at, `must be {"property": name} with a name of 1 to ${MAX_PROPERTY_LENGTH} characters`)
  }

  #literal(value: unknown, at: string): Literal {
    this.#count()
    if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value
    if (typeof value === 'string' && value.length <= MAX_TEXT_LENGTH) return value
    if (isObject(value) && typeof value['timestamp'] === 'string') return parseInstant(value['timestamp'], at)
    if (isObject(value) && typeof value['date'] === 'string') return parseInterval(value['date'], at).from!
    if (isProperty(value)) throw problem('bad-request', `A property cannot be compared with another property (${at})`)
    const fault = unknownFunction(value, at)
    if (fault) throw fault
    throw invalidField(
      at,
      `must be a number, a boolean, a string of at most ${MAX_TEXT_LENGTH} characters, {"timestamp": …} or {"date": …}`,
    )
  }

  #pattern(value: unknown, at: string): string {
    const pattern = this.#literal(value, at)
    if (typeof pattern !== 'string') throw invalidField(at, 'must be a string; % matches any characters and _ one')
    if (/(^|[^\\])(\\\\)*\\$/.test(pattern)) throw invalidField(at, 'must not end with a backslash, which escapes the next character')
    return pattern
  }

  #touching(op: 's_intersects' | 's_disjoint', args: readonly unknown[], at: string): Cql2 {
    this.#count()
    const index = args.findIndex(isItemGeometry)
    if (index !== -1) return { op, geometries: this.#geometries(op, args[1 - index], `${at}.args.${1 - index}`) }
    const [left, right] = args.map((each, nth) => this.#geometries(op, each, `${at}.args.${nth}`).map(shapeOf))
    const isApart = left!.every((geometry) => right!.every((other) => areDisjoint(geometry, other)))
    return { op: 'constant', value: isApart === (op === 's_disjoint') }
  }

  #related(op: SpatialRelation, args: readonly unknown[], at: string): Cql2 {
    this.#count()
    const index = args.findIndex(isItemGeometry)
    const operand = (nth: number): Geometry => {
      const [geometry, ...others] = this.#geometries(op, args[nth], `${at}.args.${nth}`)
      if (others.length > 0)
        throw problem('bad-request', `'${op}' requires single geometries, not a GeometryCollection (${at}.args.${nth})`)
      return geometry!
    }
    if (index === -1) return { op: 'constant', value: holds(op, shapeOf(operand(0)), shapeOf(operand(1))) }
    return { op: 's_relate', relation: index === 0 ? op : (RELATION_MIRRORED[op] ?? op), geometry: operand(1 - index) }
  }

  #geometries(op: string, value: unknown, at: string): Geometry[] {
    const fault = unknownFunction(value, at)
    if (fault) throw fault
    if (isProperty(value))
      throw problem(
        'bad-request',
        `'${op}' compares {"property": "geometry"} with a geometry, not with the property '${value.property}' (${at})`,
      )
    return this.#requireGeometries(value, at)
  }

  /** Any geometry, including collections, as a flat list. */
  #requireGeometries(value: unknown, field: string): Geometry[] {
    const geometries: Geometry[] = []
    const waiting: unknown[] = [value]
    for (let seen = 0; waiting.length > 0; seen++) {
      if (seen > MAX_GEOMETRIES) throw invalidField(field, `must have at most ${MAX_GEOMETRIES} geometries`)
      const each = waiting.shift()
      const members = isObject(each) && each['type'] === 'GeometryCollection' ? each['geometries'] : null
      if (Array.isArray(members)) waiting.push(...(members.slice(0, MAX_GEOMETRIES + 1) as unknown[]))
      else
        geometries.push(
          this.#counted(requireGeometry(isObject(each) && 'bbox' in each && !('type' in each) ? boxOf(each['bbox'], field) : each, field)),
        )
    }
    if (geometries.length === 0) throw invalidField(field, 'must have at least one geometry')
    return geometries
  }

  #counted(geometry: Geometry): Geometry {
    this.#vertices += (geometry.coordinates as unknown[]).flat(3).length / 2
    if (this.#vertices > MAX_FILTER_VERTICES)
      throw invalidField('filter', `must have at most ${MAX_FILTER_VERTICES} vertices in all geometries; simplify them`)
    return geometry
  }

  #time(operator: TimeOperator, args: readonly unknown[], at: string): Cql2 {
    this.#count()
    const interval = operator === 't_intersects' ? itemInterval(args, at) : null
    if (interval) return { op: 't_intersects', interval }
    const [left, right] = args.map((each, index) => timeOperand(operator, each, `${at}.args.${index}`))
    return { op: 'time', operator, left: left!, right: right! }
  }
}

/** The interval that an item's own time is compared with, which an index supports; null for other comparisons. */
function itemInterval([subject, value]: readonly unknown[], at: string): Interval | null {
  const names = isObject(subject) && Array.isArray(subject['interval']) ? (subject['interval'] as unknown[]) : [subject]
  if (!names.every((each) => isProperty(each) && TIME_NAMES.has(each.property))) return null
  const field = `${at}.args.1`
  const ends = isObject(value) && Array.isArray(value['interval']) ? only(value['interval'] as unknown[], 2, field) : [value]
  if (ends.some(isProperty)) return null
  return parseInterval(ends.map((each) => textOfTime(each, field)).join('/'), field)
}

const isItemGeometry = (value: unknown): boolean => isProperty(value) && GEOMETRY_NAMES.has(value.property)

function only(args: readonly unknown[], count: number, at: string): readonly unknown[] {
  if (args.length !== count) throw invalidField(at, `requires exactly ${count} args`)
  return args
}

function isArithmetic(value: unknown): value is { op: Arithmetic; args: readonly unknown[] } {
  return isObject(value) && ARITHMETIC.includes(String(value['op'])) && Array.isArray(value['args'])
}

function textOfTime(value: unknown, at: string): string {
  const text = isObject(value) ? (value['timestamp'] ?? value['date']) : value
  if (typeof text !== 'string') throw invalidField(at, 'must be an RFC 3339 timestamp, a date, or ".." for an open end')
  return text
}

/** The rectangle of `{"bbox": […]}`, in two parts if it crosses the antimeridian; heights are ignored. */
function boxOf(bbox: unknown, field: string): object {
  const isBox = Array.isArray(bbox) && (bbox.length === 4 || bbox.length === 6) && bbox.every((each) => Number.isFinite(each))
  if (!isBox) throw invalidField(`${field}.bbox`, 'must have 4 numbers (west, south, east, north), or 6 with heights')
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
