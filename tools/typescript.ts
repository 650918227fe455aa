/** JSON Schema as TypeScript types, as a person would have written them. */

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly additionalProperties?: boolean | Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly minItems?: number
  readonly maxItems?: number
  readonly default?: unknown
}

export const COLUMNS = 140
/** Arrays of exactly so many numbers are tuples: bounding boxes, positions. */
const MAX_TUPLE = 6

/** `items.list_assets` becomes `ItemsListAssets`. */
export function pascal(id: string): string {
  return id
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('')
}

/** `list_assets` becomes `listAssets`. */
export function camel(name: string): string {
  const typeName = pascal(name)
  return typeName.slice(0, 1).toLowerCase() + typeName.slice(1)
}

/** Comment lines that fit the page. */
export function comment(text: string, indent: string): string {
  const clean = text.replaceAll('*/', '* /').trim()
  if (clean === '') return ''
  const single = `${indent}/** ${clean} */`
  if (single.length <= COLUMNS && !clean.includes('\n')) return `${single}\n`
  const lines = clean.split('\n').flatMap((paragraph) => wrap(paragraph, COLUMNS - indent.length - 3))
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

const quoted = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value)
const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))

/** The name that a `$ref` leads to. */
export const refName = (ref: string) => ref.split('/').at(-1)!

/** The type of a schema. Names of shapes that it uses are added to `used`. */
export function typeOf(schema: Schema, indent: string, used: Set<string>): string {
  if (schema.$ref) {
    const name = refName(schema.$ref)
    used.add(name)
    return name
  }
  if (schema.const !== undefined) return quoted(schema.const)
  if (schema.enum) return union(schema.enum.map(quoted), indent)
  if (schema.anyOf)
    return union(
      schema.anyOf.map((part) => typeOf(part, indent, used)),
      indent,
    )
  if (Array.isArray(schema.type))
    return union(
      schema.type.map((type) => typeOf({ ...schema, type }, indent, used)),
      indent,
    )
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return arrayOf(schema, indent, used)
    case 'object':
      return objectOf(schema, indent, used)
    default:
      return schema.properties ? objectOf(schema, indent, used) : 'unknown'
  }
}

function union(parts: readonly string[], indent: string): string {
  const distinct = [...new Set(parts)]
  if (distinct.includes('unknown')) return 'unknown'
  const line = distinct.join(' | ')
  if (line.length + indent.length < COLUMNS - 40 || distinct.some((part) => part.includes('\n'))) return line
  return `\n${distinct.map((part) => `${indent}  | ${part}`).join('\n')}`
}

function arrayOf(schema: Schema, indent: string, used: Set<string>): string {
  const element = schema.items ? typeOf(schema.items, indent, used) : 'unknown'
  const { minItems, maxItems } = schema
  if (minItems !== undefined && minItems === maxItems && minItems <= MAX_TUPLE && !element.includes('\n'))
    return `[${Array.from({ length: minItems }, () => element).join(', ')}]`
  return /^[\w.]+$/.test(element) ? `${element}[]` : `(${element})[]`
}

function objectOf(schema: Schema, indent: string, used: Set<string>): string {
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema
  const rest = Object.values(patternProperties ?? {}).map((value) => typeOf(value, indent, used))
  if (typeof additionalProperties === 'object') rest.push(typeOf(additionalProperties, indent, used))
  const names = Object.keys(properties)
  const isOpen = additionalProperties === true || (additionalProperties === undefined && rest.length === 0 && names.length === 0)
  if (isOpen) rest.push('unknown')
  if (names.length === 0) return rest.length > 0 ? `{ [name: string]: ${union(rest, indent)} }` : '{}'
  const inner = `${indent}  `
  const lines = names.map((name) => {
    const field = properties[name]!
    const isRequired = required.includes(name)
    const type = typeOf(isGeometry(name) ? geometryOf(field) : field, inner, used)
    const space = type.startsWith('\n') ? '' : ' '
    const isLoose = !isRequired && type !== 'unknown'
    return `${comment(docOf(field), inner)}${inner}${key(name)}${isRequired ? '' : '?'}:${space}${type}${isLoose ? ' | undefined' : ''}\n`
  })
  // An index type must cover the named fields too.
  if (rest.length > 0) lines.push(`${inner}[name: string]: unknown\n`)
  return `{\n${lines.join('')}${indent}}`
}

/** Shapes that the client has of its own: what every program has types for, and the contract does not spell out. */
export const GEOMETRY = 'Geometry'
export const isGeometry = (name: string) => /(^|_)geometry$|^intersects$/.test(name)
const isOpenObject = ({ type, properties, patternProperties }: Schema) => type === 'object' && !properties && !patternProperties

export function geometryOf(schema: Schema): Schema {
  if (schema.anyOf) return { ...schema, anyOf: schema.anyOf.map(geometryOf) }
  return isOpenObject(schema) ? { $ref: GEOMETRY } : schema
}

/** What is said of a field, and what it is where it is left out. */
export function docOf(schema: Schema): string {
  const nested = schema.anyOf?.map(({ description }) => description).find((text) => text !== undefined)
  const text = schema.description ?? nested ?? ''
  const standard = schema.default === undefined || schema.default === null ? '' : `Default: \`${JSON.stringify(schema.default)}\``
  return [text.replace(/\.$/, ''), standard].filter((part) => part !== '').join('. ')
}
