/** Turns schema errors into messages that tell callers what to send instead. */
import type { TSchema } from 'typebox'
import { meant } from '#core/nearest.ts'
import type { FieldError } from '#core/problem.ts'
import { PATTERN_MESSAGES } from '#core/shapes.ts'

/** As reported by the validator. */
export interface SchemaError {
  keyword: string
  schemaPath: string
  instancePath: string
  params: object
  message: string
}

/** `of` names the process whose parameters the schema describes, if it is not an operation's input; its parameters are then listed. */
export function explainErrors(schema: TSchema, errors: readonly SchemaError[], value: unknown, of?: string): FieldError[] {
  const seen = new Set<string>()
  return oneCause(errors)
    .flatMap((error) => explain(schema, error, value, of))
    .filter(({ field, message }) => {
      const isNew = !seen.has(`${field} ${message}`)
      seen.add(`${field} ${message}`)
      return isNew
    })
}

/** For a value that matches no alternative of a union: the errors of the closest one, or all types if the type matches none. */
function oneCause(errors: readonly SchemaError[]): SchemaError[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf').toSorted((a, b) => b.schemaPath.length - a.schemaPath.length)
  let remaining = errors.filter(({ keyword }) => keyword !== 'anyOf')
  for (const { schemaPath, instancePath } of unions) {
    const branches = Map.groupBy(
      remaining.filter((error) => error.schemaPath.startsWith(`${schemaPath}/anyOf/`)),
      (error) => error.schemaPath.slice(schemaPath.length).split('/')[2]!,
    )
    const inside = new Set([...branches.values()].flat())
    if (inside.size === 0) continue
    const isOfType = (branch: SchemaError[]) => !branch.some((error) => error.keyword === 'type' && error.instancePath === instancePath)
    const near = [...branches.values()].filter(isOfType).toSorted((a, b) => a.length - b.length)[0]
    remaining = [...remaining.filter((error) => !inside.has(error)), ...(near ?? [typesOf([...inside], schemaPath, instancePath)])]
  }
  return remaining
}

/** One error that names every accepted type. */
function typesOf(errors: readonly SchemaError[], schemaPath: string, instancePath: string): SchemaError {
  const types = [...new Set(errors.map(({ params }) => (params as { type?: string }).type ?? 'object'))]
  return { keyword: 'type', schemaPath, instancePath, params: { types }, message: '' }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  boolean: 'a boolean',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

const FORMAT_WORDS: Readonly<Record<string, string>> = {
  'date-time': 'a timestamp such as 2026-03-01T09:30:00Z',
  date: 'a date such as 2026-03-01',
  uuid: 'a UUID such as 0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10',
  email: 'an email address',
}

interface Params {
  type?: string
  types?: string[]
  format?: string
  pattern?: string
  requiredProperties?: string[]
  allowedValues?: unknown[]
}

function explain(
  schema: TSchema,
  { keyword, schemaPath, instancePath, params: rawParams, message }: SchemaError,
  value: unknown,
  of?: string,
): FieldError[] {
  const field = fieldOf(instancePath)
  const params = rawParams as Params
  const error = (text: string): FieldError[] => [{ field, message: text }]
  switch (keyword) {
    case 'boolean': // One per member that `additionalProperties: false` rejects; together they add nothing.
      return error(unknownField(schema, schemaPath, instancePath, of))
    case 'additionalProperties':
      return []
    case 'required':
      return (params.requiredProperties ?? []).map((name) => ({ field: join(field, name), message: 'is required' }))
    case 'enum':
      return error(`must be one of ${choices(params.allowedValues ?? [], at(value, instancePath))}`)
    case 'type':
      return error(`must be ${listed((params.types ?? [params.type!]).map((type) => TYPE_WORDS[type] ?? type))}`)
    case 'format':
      return error(`must be ${FORMAT_WORDS[params.format!] ?? params.format}`)
    case 'pattern':
      return error(PATTERN_MESSAGES[params.pattern!] ?? message)
    default:
      return error(message)
  }
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

function unknownField(schema: TSchema, schemaPath: string, instancePath: string, of?: string): string {
  const name = fieldOf(instancePath).split('.').at(-1)!
  const parent = at(schema, schemaPath.replace(/\/additionalProperties$/, '')) as { properties?: object } | null
  const fields = Object.keys(parent?.properties ?? {})
  if (of !== undefined) return `is not a parameter of '${of}', which takes ${fields.toSorted().join(', ')}`
  if (fields.length === 0) return 'is not a field of this operation, which takes no fields'
  const hint = meant(name, fields, '')
  return `is not a field of this operation${hint ? `${hint} Its` : '; its'} fields are ${fields.join(', ')}`
}

/** All allowed values, and a suggestion if one is close. */
const choices = (allowed: readonly unknown[], given: unknown): string =>
  `${allowed.join(', ')}${typeof given === 'string' ? meant(given, allowed.map(String), '') : ''}`

/** Resolves a JSON pointer (`#/properties/a`) in a schema or a value, using own properties only. */
function at(whole: unknown, pointer: string): unknown {
  return partsOf(pointer.replace(/^#/, '')).reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part) ? (value as Record<string, unknown>)[part] : null,
    whole,
  )
}

function fieldOf(pointer: string): string {
  return pointer === '' ? 'body' : partsOf(pointer).join('.')
}

const partsOf = (pointer: string): string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

function join(at: string, name: string): string {
  return at === 'body' ? name : `${at}.${name}`
}
