/** Whether a client that was made for one published contract still works with another. */
import type { Document } from './client-source.ts'
import { refName, type Schema } from './typescript.ts'

export interface Change {
  readonly kind: 'breaking' | 'additive'
  readonly where: string
  readonly what: string
}

/** Shapes that hold themselves are compared this deep. */
const MAX_DEPTH = 24

type Side = 'input' | 'output'

interface Pair {
  readonly before: Document
  readonly after: Document
}

/** Everything that differs and that a caller could notice. Descriptions and examples are no contract. */
export function changesBetween(before: Document, after: Document): Change[] {
  const changes: Change[] = []
  for (const [path, methods] of Object.entries(before.paths))
    for (const [method, was] of Object.entries(methods)) {
      const is = after.paths[path]?.[method]
      if (!is) changes.push({ kind: 'breaking', where: was.operationId, what: 'is gone' })
      else changes.push(...operationChanges({ before, after }, was, is))
    }
  for (const [path, methods] of Object.entries(after.paths))
    for (const [method, is] of Object.entries(methods))
      if (!before.paths[path]?.[method]) changes.push({ kind: 'additive', where: is.operationId, what: 'is new' })
  return changes
}

type Operation = Document['paths'][string][string]

const FIXED = ['x-required-scope', 'x-side-effect', 'x-raw', 'x-public', 'x-idempotent'] as const

function operationChanges(pair: Pair, was: Operation, is: Operation): Change[] {
  const where = was.operationId
  const marks = FIXED.filter((name) => field(was, name) !== field(is, name)).map((name) => ({
    // Being allowed more, or protected better, breaks nobody.
    kind: name === 'x-idempotent' && field(is, name) === true ? ('additive' as const) : ('breaking' as const),
    where,
    what: `${name} was ${String(field(was, name))} and is ${String(field(is, name))}`,
  }))
  const input = compare(pair, schemaOf(was.requestBody), schemaOf(is.requestBody), { side: 'input', where: `${where} input`, depth: 0 })
  const output = compare(pair, schemaOf(was.responses['200']), schemaOf(is.responses['200']), {
    side: 'output',
    where: `${where} output`,
    depth: 0,
  })
  return [...marks, ...input, ...output]
}

const field = (operation: Operation, name: string) => (operation as object as Record<string, unknown>)[name]
const schemaOf = (holder: { content?: Readonly<Record<string, { schema?: Schema }>> } | undefined): Schema =>
  Object.values(holder?.content ?? {})[0]?.schema ?? {}

interface Place {
  readonly side: Side
  readonly where: string
  readonly depth: number
}

function resolve(document: Document, schema: Schema): Schema {
  return schema.$ref ? resolve(document, document.components.schemas[refName(schema.$ref)] ?? {}) : schema
}

/** The alternatives of a schema, by what each is. */
function alternatives(document: Document, schema: Schema): Map<string, Schema> {
  const resolved = resolve(document, schema)
  const parts = resolved.anyOf ?? (Array.isArray(resolved.type) ? resolved.type.map((type: string) => ({ ...resolved, type })) : [resolved])
  return new Map(parts.map((part) => resolve(document, part)).map((part, index) => [nameOf(part, index), part]))
}

const nameOf = ({ type, const: value, properties }: Schema, index: number) => {
  if (value !== undefined) return JSON.stringify(value)
  const tag = properties?.['type']?.const
  return `${String(type ?? 'any')}${tag === undefined ? (type === 'object' && index > 0 ? String(index) : '') : ` ${String(tag)}`}`
}

function compare(pair: Pair, was: Schema, is: Schema, place: Place): Change[] {
  if (place.depth > MAX_DEPTH) return []
  const [before, after] = [alternatives(pair.before, was), alternatives(pair.after, is)]
  const changes: Change[] = []
  for (const [name, schema] of before) {
    const now = after.get(name)
    if (!now) changes.push(widened(place, 'taken', `${name} is no longer there`))
    else changes.push(...compareOne(pair, schema, now, place))
  }
  for (const name of after.keys()) if (!before.has(name)) changes.push(widened(place, 'added', `may be ${name} now`))
  return changes
}

/** A caller may send what was allowed, and must understand what comes: taking away breaks the one, adding a type breaks the other. */
function widened({ side, where }: Place, how: 'taken' | 'added', what: string): Change {
  return { kind: (side === 'input') === (how === 'taken') ? 'breaking' : 'additive', where, what }
}

function compareOne(pair: Pair, was: Schema, is: Schema, place: Place): Change[] {
  const changes: Change[] = [...choiceChanges(was, is, place), ...boundChanges(was, is, place)]
  const [before, after] = [was.properties ?? {}, is.properties ?? {}]
  for (const [name, schema] of Object.entries(before)) {
    const where = `${place.where}.${name}`
    const now = after[name]
    if (!now) {
      // Open objects still take and may still give a field that is no longer named.
      changes.push({ kind: is.additionalProperties === true && place.side === 'input' ? 'additive' : 'breaking', where, what: 'is gone' })
      continue
    }
    const [wasRequired, isRequired] = [was.required?.includes(name) ?? false, is.required?.includes(name) ?? false]
    if (wasRequired !== isRequired)
      changes.push({
        kind: (place.side === 'input') === isRequired ? 'breaking' : 'additive',
        where,
        what: isRequired ? 'is required now' : 'is optional now',
      })
    changes.push(...compare(pair, schema, now, { ...place, where, depth: place.depth + 1 }))
  }
  for (const name of Object.keys(after)) {
    if (before[name]) continue
    const isBreaking = place.side === 'input' && (is.required?.includes(name) ?? false)
    changes.push({
      kind: isBreaking ? 'breaking' : 'additive',
      where: `${place.where}.${name}`,
      what: isBreaking ? 'is new and required' : 'is new',
    })
  }
  if (was.items && is.items)
    changes.push(...compare(pair, was.items, is.items, { ...place, where: `${place.where}[]`, depth: place.depth + 1 }))
  return changes
}

/** A new value of an answer is additive by the specification: clients must take values that they do not know. */
function choiceChanges(was: Schema, is: Schema, { side, where }: Place): Change[] {
  if (!was.enum && !is.enum) return []
  if (!was.enum) return [{ kind: side === 'input' ? 'breaking' : 'additive', where, what: 'has a list of values now' }]
  if (!is.enum) return [{ kind: 'additive', where, what: 'takes any value now' }]
  const gone = was.enum.filter((value) => !is.enum!.includes(value))
  const added = is.enum.filter((value) => !was.enum!.includes(value))
  return [
    ...gone.map((value): Change => ({
      kind: side === 'input' ? 'breaking' : 'additive',
      where,
      what: `${String(value)} is no value any more`,
    })),
    ...added.map((value): Change => ({ kind: 'additive', where, what: `${String(value)} is a new value` })),
  ]
}

/** Bounds that were narrowed refuse what was taken. */
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'] as const
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'] as const

function boundChanges(was: Schema, is: Schema, { side, where }: Place): Change[] {
  const value = (schema: Schema, name: string) => (schema as Record<string, unknown>)[name] as number | undefined
  const change = (name: string, sign: 1 | -1): Change[] => {
    const [from, to] = [value(was, name), value(is, name)]
    if (from === to || side === 'output') return []
    const isNarrower = to !== undefined && (from === undefined || (to - from) * sign > 0)
    return [{ kind: isNarrower ? 'breaking' : 'additive', where, what: `${name} was ${from ?? 'open'} and is ${to ?? 'open'}` }]
  }
  return [...LOWER.flatMap((name) => change(name, 1)), ...UPPER.flatMap((name) => change(name, -1))]
}
