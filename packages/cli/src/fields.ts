/** Turns flags into the input of an operation, by its schema. */
import { readFileSync } from 'node:fs'
import { flagOf, type Command, type Field } from './catalogue.ts'
import { UsageError } from './failure.ts'
import { valueAfter, type Word } from './options.ts'

/** A flag and the input field that it sets. */
interface FlagField {
  readonly flag: string
  readonly name: string
  readonly field: Field
  readonly isRequired: boolean
}

export function flagsOf({ input }: Pick<Command, 'input'>): FlagField[] {
  const { properties = {}, required = [] } = input
  return Object.entries(properties).map(([name, field]) => ({ flag: flagOf(name), name, field, isRequired: required.includes(name) }))
}

/** `--project` is short for `--project-id`, unless another field has that name. */
function findFlag(fields: readonly FlagField[], typed: string): { match: FlagField; isNegated: boolean } | null {
  const name = flagOf(typed)
  const match = fields.find(({ flag }) => flag === name) ?? fields.find(({ flag }) => flag === `${name}-id` || flag === `${name}-ids`)
  if (match) return { match, isNegated: false }
  const negated = name.startsWith('no-') ? fields.find(({ flag }) => flag === name.slice('no-'.length)) : undefined
  return negated ? { match: negated, isNegated: true } : null
}

/** Types that a field can have, including those of unions. */
export function typesOf(field: Field): string[] {
  if (field.anyOf) return [...new Set(field.anyOf.flatMap(typesOf))]
  if (field.const !== undefined) return [typeof field.const]
  if (Array.isArray(field.type)) return [...field.type]
  return field.type === undefined ? (field.enum ? ['string'] : ['any']) : [String(field.type)]
}

/** The operation's input from flags and `--body`, with the default project. */
export function readInput(
  command: Command,
  rest: readonly Word[],
  defaults: { project?: string },
): { input: Record<string, unknown>; output: string | null; idempotencyKey: string | null; isAll: boolean } {
  const fields = flagsOf(command)
  const input: Record<string, unknown> = {}
  const own: { output: string | null; idempotencyKey: string | null; isAll: boolean } = { output: null, idempotencyKey: null, isAll: false }
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index]!
    if (typeof word === 'string')
      throw new UsageError(
        `Unexpected argument '${word}'`,
        `Pass fields as flags; see: groundtrack ${command.id.replaceAll('.', ' ')} --help`,
      )
    const hit = findFlag(fields, word.name)
    if (hit) index += readField(hit, word.value, rest, index, input)
    else if (word.name === 'body') Object.assign(input, bodyOf(word.value ?? valueAfter(rest, index++, 'body')))
    else if (word.name === 'output') own.output = word.value ?? valueAfter(rest, index++, 'output')
    else if (word.name === 'idempotency-key') own.idempotencyKey = word.value ?? valueAfter(rest, index++, 'idempotency-key')
    else if (word.name === 'all') own.isAll = true
    else
      throw new UsageError(`--${word.name} is not an option of this command`, `Options: ${fields.map(({ flag }) => `--${flag}`).join(' ')}`)
  }
  const project = fields.find(({ flag, isRequired }) => flag === 'project-id' && isRequired)
  if (project && defaults.project !== undefined) input[project.name] ??= defaults.project
  return { input, ...own }
}

/** Reads one flag into the input and returns how many of the following words it used. */
function readField(
  { match, isNegated }: { match: FlagField; isNegated: boolean },
  given: string | null,
  rest: readonly Word[],
  index: number,
  input: Record<string, unknown>,
): number {
  const { name, flag, field } = match
  const types = typesOf(field)
  if (
    types.includes('boolean') &&
    given === null &&
    (isNegated || typeof rest[index + 1] !== 'string' || !/^(true|false)$/.test(rest[index + 1] as string))
  ) {
    input[name] = !isNegated
    return 0
  }
  const text = given ?? valueAfter(rest, index, flag)
  const value = valueOf(text, field, flag)
  // Repeated flags extend a list.
  input[name] = Array.isArray(value) && Array.isArray(input[name]) ? [...(input[name] as unknown[]), ...value] : value
  return given === null ? 1 : 0
}

function valueOf(text: string, field: Field, flag: string): unknown {
  const types = typesOf(field)
  if (text === 'null' && types.includes('null')) return null
  if (types.includes('array')) return listOf(text, field, flag)
  if (types.includes('object') || types.includes('any')) return structured(text, flag, types.includes('any') || types.includes('string'))
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  const isNumeric = types.includes('integer') || types.includes('number')
  if (isNumeric && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  if (isNumeric && !types.includes('string')) throw new UsageError(`--${flag} must be a number, not '${text}'`)
  return text
}

function listOf(text: string, field: Field, flag: string): unknown {
  const array = field.anyOf?.find((part) => typesOf(part).includes('array')) ?? field
  const items = array.items ?? {}
  const isPlain = !typesOf(items).some((type) => type === 'object' || type === 'array' || type === 'any')
  if (/^\s*\[/.test(text) || text.startsWith('@') || text === '-') return structured(text, flag, false)
  if (!isPlain) return structured(text, flag, false)
  return text.split(',').map((part) => valueOf(part.trim(), items, flag))
}

/** JSON from the argument itself, a file (`@file`) or stdin (`-`). */
function structured(text: string, flag: string, mayBeText: boolean): unknown {
  const source = text === '-' ? readFileSync(0, 'utf8') : text.startsWith('@') ? contents(text.slice(1), flag) : text
  try {
    const value = JSON.parse(source) as { type?: string; geometry?: unknown; features?: { geometry: unknown }[] }
    return flag.includes('geometry') || flag === 'intersects' || flag === 'aoi' ? geometryOf(value) : value
  } catch {
    if (mayBeText && source === text) return text
    throw new UsageError(`--${flag} must be JSON, @file or - for stdin`)
  }
}

/** GIS programs export a feature, or a collection with one feature; operations take its geometry. */
function geometryOf(value: { type?: string; geometry?: unknown; features?: { geometry: unknown }[] }): unknown {
  if (value.type === 'Feature') return value.geometry
  return value.type === 'FeatureCollection' && value.features?.length === 1 ? value.features[0]!.geometry : value
}

function contents(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new UsageError(`--${flag}: cannot read ${file}`)
  }
}

function bodyOf(text: string): object {
  const value = structured(text, 'body', false)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UsageError('--body must be a JSON object')
  return value
}
