/** What is wrong with an input, in words that tell a person what to send instead. */
import type { TSchema } from 'typebox'
import { meant } from '#core/nearest.ts'
import type { FieldError } from '#core/problem.ts'
import { PATTERN_WORDS } from '#core/shapes.ts'

/** As the validator reports it. */
export interface SchemaError {
  keyword: string
  schemaPath: string
  instancePath: string
  params: object
  message: string
}

/** `of` names what the schema is the parameters of, where it is not an operation's input: those that it takes are listed. */
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

/** Of a value that fits none of several shapes, the complaints of the shape that it comes nearest to; all types where it is of none. */
function oneCause(errors: readonly SchemaError[]): SchemaError[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf').toSorted((a, b) => b.schemaPath.length - a.schemaPath.length)
  let left = errors.filter(({ keyword }) => keyword !== 'anyOf')
  for (const { schemaPath, instancePath } of unions) {
    const branches = Map.groupBy(
      left.filter((error) => error.schemaPath.startsWith(`${schemaPath}/anyOf/`)),
      (error) => error.schemaPath.slice(schemaPath.length).split('/')[2]!,
    )
    const inside = new Set([...branches.values()].flat())
    if (inside.size === 0) continue
    const isOfType = (branch: SchemaError[]) => !branch.some((error) => error.keyword === 'type' && error.instancePath === instancePath)
    const near = [...branches.values()].filter(isOfType).toSorted((a, b) => a.length - b.length)[0]
    left = [...left.filter((error) => !inside.has(error)), ...(near ?? [typesOf([...inside], schemaPath, instancePath)])]
  }
  return left
}

/** One complaint that names every type that would do. */
function typesOf(errors: readonly SchemaError[], schemaPath: string, instancePath: string): SchemaError {
  const types = [...new Set(errors.map(({ params }) => (params as { type?: string }).type ?? 'object'))]
  return { keyword: 'type', schemaPath, instancePath, params: { types }, message: '' }
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

const FORMAT_WORDS: Readonly<Record<string, string>> = {
  'date-time': 'a time such as 2026-03-01T09:30:00Z',
  date: 'a day such as 2026-03-01',
  uuid: 'an id such as 0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10',
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
  { keyword, schemaPath, instancePath, params: given, message }: SchemaError,
  value: unknown,
  of?: string,
): FieldError[] {
  const field = fieldOf(instancePath)
  const params = given as Params
  const says = (words: string): FieldError[] => [{ field, message: words }]
  switch (keyword) {
    case 'boolean': // One for each member that `additionalProperties: false` refuses; their sum adds nothing.
      return says(unknownField(schema, schemaPath, instancePath, of))
    case 'additionalProperties':
      return []
    case 'required':
      return (params.requiredProperties ?? []).map((name) => ({ field: join(field, name), message: 'is required' }))
    case 'enum':
      return says(`must be one of ${choices(params.allowedValues ?? [], at(value, instancePath))}`)
    case 'type':
      return says(`must be ${listed((params.types ?? [params.type!]).map((type) => TYPE_WORDS[type] ?? type))}`)
    case 'format':
      return says(`must be ${FORMAT_WORDS[params.format!] ?? params.format}`)
    case 'pattern':
      return says(PATTERN_WORDS[params.pattern!] ?? message)
    default:
      return says(message)
  }
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

function unknownField(schema: TSchema, schemaPath: string, instancePath: string, of?: string): string {
  const name = fieldOf(instancePath).split('.').at(-1)!
  const parent = at(schema, schemaPath.replace(/\/additionalProperties$/, '')) as { properties?: object } | null
  const known = Object.keys(parent?.properties ?? {})
  if (of !== undefined) return `is not a parameter of '${of}', which takes ${known.toSorted().join(', ')}`
  if (known.length === 0) return 'is not a field of this operation; it has none'
  const hint = meant(name, known, '')
  return `is not a field of this operation${hint ? `${hint} Its` : '; its'} fields are ${known.join(', ')}`
}

/** All of them, and the one that was probably meant. */
const choices = (allowed: readonly unknown[], given: unknown): string =>
  `${allowed.join(', ')}${typeof given === 'string' ? meant(given, allowed.map(String), '') : ''}`

/** What a JSON pointer (`#/properties/a`) leads to in a schema or a value; only what is its own. */
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
