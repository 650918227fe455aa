/** Infers Parquet columns from a sample of JSON values: scalars, lists and structs; anything else becomes JSON text. */
import type { SchemaElement } from 'hyparquet'

type Json = Record<string, unknown>

export type Shape =
  | { kind: 'text' | 'number' | 'integer' | 'boolean' | 'time' | 'json' }
  | { kind: 'list'; element: Shape }
  | { kind: 'struct'; fields: ReadonlyMap<string, Shape> }

/** Deeper values become JSON text; no STAC field is nested further. */
const MAX_DEPTH = 6
/** Maximum members of a struct; a wider object is a dictionary and becomes JSON text. */
const MAX_FIELDS = 200

const TIMES = new Set(['datetime', 'start_datetime', 'end_datetime', 'created', 'updated', 'published', 'expires'])
/** Always integers. Every other number can have a fraction on a later page. */
const INTEGERS = new Set(['proj:epsg', 'proj:shape', 'file:size', 'file:header_size', 'bits_per_sample'])

const JSON_TEXT: Shape = { kind: 'json' }

/** The common shape of all values of a sample; null if all are missing. */
export function shapeOf(name: string, values: readonly unknown[], depth = 0): Shape | null {
  const present = values.filter((value) => value !== null && value !== undefined)
  const kinds = new Set(present.map((value) => kindOf(name, value)))
  if (kinds.size === 0) return null
  const [kind] = kinds
  if (kinds.size > 1 || kind === undefined || depth > MAX_DEPTH) return JSON_TEXT
  if (kind === 'list') return { kind, element: shapeOf(name, (present as unknown[][]).flat(1), depth + 1) ?? { kind: 'text' } }
  return kind === 'struct' ? structOf(present as Json[], depth + 1) : { kind }
}

/** Parquet has no empty struct, so if one of the objects is empty, they become JSON text. */
function structOf(objects: readonly Json[], depth: number): Shape {
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  const isEmpty = objects.some((object) => Object.values(object).every((value) => value === null || value === undefined))
  if (names.length > MAX_FIELDS || isEmpty) return JSON_TEXT
  const fields = new Map<string, Shape>()
  for (const name of names) {
    const shape = shapeOf(
      name,
      objects.map((object) => object[name]),
      depth,
    )
    if (shape) fields.set(name, shape)
  }
  return fields.size === 0 ? JSON_TEXT : { kind: 'struct', fields }
}

function kindOf(name: string, value: unknown): Shape['kind'] {
  if (Array.isArray(value)) return value.includes(null) ? 'json' : 'list'
  switch (typeof value) {
    case 'string':
      return TIMES.has(name) && Number.isFinite(Date.parse(value)) ? 'time' : 'text'
    case 'number':
      return INTEGERS.has(name) && Number.isSafeInteger(value) ? 'integer' : 'number'
    case 'boolean':
      return 'boolean'
    default:
      return 'struct'
  }
}

/** Whether the column can store the value without loss. */
export function fits(value: unknown, shape: Shape, name: string): boolean {
  if (value === null || value === undefined || shape.kind === 'json') return true
  const kind = kindOf(name, value)
  if (kind !== shape.kind) return kind === 'integer' && shape.kind === 'number'
  if (shape.kind === 'list') return (value as unknown[]).every((each) => fits(each, shape.element, name))
  if (shape.kind !== 'struct') return true
  const entries = Object.entries(value as Json).filter(([, each]) => each !== null && each !== undefined)
  return entries.length > 0 && entries.every(([key, each]) => shape.fields.has(key) && fits(each, shape.fields.get(key)!, key))
}

/** The value as the Parquet writer expects it. */
export function cellOf(value: unknown, shape: Shape): unknown {
  if (value === null || value === undefined) return null
  switch (shape.kind) {
    case 'time':
      return new Date(String(value))
    case 'integer':
      return BigInt(value as number)
    case 'list':
      return (value as unknown[]).map((each) => cellOf(each, shape.element))
    case 'struct':
      return Object.fromEntries([...shape.fields].map(([name, field]) => [name, cellOf((value as Json)[name], field)]))
    default:
      return value
  }
}

export function schemaOf(name: string, shape: Shape): SchemaElement[] {
  const optional = { name, repetition_type: 'OPTIONAL' as const }
  switch (shape.kind) {
    case 'text':
      return [{ ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }]
    case 'json':
      return [{ ...optional, type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } }]
    case 'number':
      return [{ ...optional, type: 'DOUBLE' }]
    case 'integer':
      return [{ ...optional, type: 'INT64' }]
    case 'boolean':
      return [{ ...optional, type: 'BOOLEAN' }]
    case 'time':
      return [
        {
          ...optional,
          type: 'INT64',
          converted_type: 'TIMESTAMP_MILLIS',
          logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
        },
      ]
    case 'list':
      return [
        { ...optional, num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        ...schemaOf('element', shape.element),
      ]
    case 'struct':
      return [{ ...optional, num_children: shape.fields.size }, ...[...shape.fields].flatMap(([field, each]) => schemaOf(field, each))]
  }
}
