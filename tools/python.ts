/** JSON Schema as Python types: classes of records for what the service returns, typed dictionaries for what callers send. */
import { docOf, geometryOf, isGeometry, GEOMETRY, pascal, refName, wrap, type Schema } from './typescript.ts'

/** Words that cannot name a parameter or an attribute. */
const KEYWORDS = new Set(
  [
    'False None True and as assert async await break class continue def del elif else except',
    'finally for from global if import in is lambda nonlocal not or pass raise return try while with yield',
  ]
    .join(' ')
    .split(' '),
)

/** The name of a field as a parameter: `from` becomes `from_`, `filter-lang` becomes `filter_lang`. */
export function identifier(name: string): string {
  const plain = name.replaceAll(/\W/g, '_')
  return KEYWORDS.has(plain) ? `${plain}_` : plain
}

const isIdentifier = (name: string) => identifier(name) === name

export const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

function literal(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return value === null ? 'None' : JSON.stringify(value)
}

const DOC_COLUMNS = 100

const isOneLine = (text: string, indent: string) => !text.includes('\n') && text.length + indent.length + 6 <= DOC_COLUMNS

/** A docstring, wrapped; lines that begin with spaces keep them. */
export function docstring(text: string, indent: string): string {
  const clean = text.trim().replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"')
  if (clean === '') return ''
  const safe = clean.endsWith('"') ? `${clean} ` : clean
  if (isOneLine(safe, indent)) return `${indent}"""${safe}"""\n`
  const lines = safe.split('\n').flatMap((line) => {
    const inner = /^ */.exec(line)![0]
    const [first = '', ...rest] = wrap(line.slice(inner.length), DOC_COLUMNS - indent.length - inner.length - 4)
    const hanging = inner === '' ? '' : `${inner}    `
    return [inner + first, ...rest.map((more) => hanging + more)]
  })
  return `${indent}"""${lines.map((line, index) => (index === 0 ? line : `${indent}${line}`.trimEnd())).join('\n')}\n${indent}"""\n`
}

/** A module under construction: its classes, in order, and the names that it uses from elsewhere. */
export interface Module {
  readonly declared: Map<string, string>
  /** Records of the shared module. */
  readonly records: Set<string>
  /** Typed dictionaries of the shared module. */
  readonly inputs: Set<string>
}

export const newModule = (): Module => ({ declared: new Map(), records: new Set(), inputs: new Set() })

function declare(module: Module, name: string, text: string): void {
  if (module.declared.has(name)) throw new Error(`Two Python classes would be called ${name}`)
  module.declared.set(name, text)
}

/** `type` is what a type checker sees. `wraps` is the class that values become when they are read, and `{}` marks a map of them. */
export interface Output {
  readonly type: string
  readonly wraps: string | null
}

const union = (parts: readonly string[]): string => {
  const distinct = [...new Set(parts)]
  if (distinct.includes('Any')) return 'Any'
  return [...distinct.filter((part) => part !== 'None'), ...distinct.filter((part) => part === 'None')].join(' | ')
}

const enumOf = (values: readonly unknown[]) =>
  union([
    ...(values.some((value) => value !== null)
      ? [
          `Literal[${values
            .filter((value) => value !== null)
            .map(literal)
            .join(', ')}]`,
        ]
      : []),
    ...(values.includes(null) ? ['None'] : []),
  ])

const SCALARS: Readonly<Record<string, string>> = { string: 'str', number: 'float', integer: 'int', boolean: 'bool', null: 'None' }

/** The types of an array of types, which only JSON Schema's shorthand has. */
const spread = (schema: Schema): readonly Schema[] | undefined =>
  schema.anyOf ?? (Array.isArray(schema.type) ? (schema.type as readonly string[]).map((type) => ({ ...schema, type })) : undefined)

/** The values of a map without named fields. */
function valueOf({ patternProperties, additionalProperties }: Schema): Schema | undefined {
  const [pattern] = Object.values(patternProperties ?? {})
  return pattern ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
}

/** The type of something that the service returns. Objects without a name are declared as `name`. */
export function outputOf(schema: Schema, name: string, module: Module): Output {
  if (schema.$ref) {
    const shared = refName(schema.$ref)
    if (shared === GEOMETRY) return { type: GEOMETRY, wraps: null }
    module.records.add(shared)
    return { type: shared, wraps: shared }
  }
  if (schema.const !== undefined) return { type: `Literal[${literal(schema.const)}]`, wraps: null }
  if (schema.enum) return { type: enumOf(schema.enum), wraps: null }
  const parts = spread(schema)
  if (parts) {
    const isOnlyObject = parts.filter((part) => part.properties).length <= 1
    const outputs = parts.map((part, index) => outputOf(part, isOnlyObject ? name : `${name}${index + 1}`, module))
    const wraps = new Set(outputs.map((output) => output.wraps).filter((found) => found !== null))
    return { type: union(outputs.map(({ type }) => type)), wraps: wraps.size === 0 ? null : wraps.size === 1 ? [...wraps][0]! : 'Record' }
  }
  if (schema.type === 'array') {
    const element: Output = schema.items ? outputOf(schema.items, name, module) : { type: 'Any', wraps: null }
    return { type: `list[${element.type}]`, wraps: element.wraps }
  }
  if (schema.properties && Object.keys(schema.properties).length > 0) {
    declareRecord(name, schema, module)
    return { type: name, wraps: name }
  }
  if (schema.type === 'object') {
    const values = valueOf(schema)
    const value: Output = values ? outputOf(values, name, module) : { type: 'Any', wraps: null }
    return { type: `dict[str, ${value.type}]`, wraps: value.wraps === null ? null : `{}${value.wraps}` }
  }
  return { type: SCALARS[schema.type as string] ?? 'Any', wraps: null }
}

/** Records that do something, with the class that does it. Their fields must not have the names of its methods. */
const BEHAVIOURS: Readonly<Record<string, string>> = {
  Collection: 'CollectionMethods',
  Item: 'ItemMethods',
  ItemFeature: 'ItemMethods',
  Order: 'OrderMethods',
  ProcessingJob: 'JobMethods',
  Upload: 'UploadMethods',
}
const TAKEN = new Set(['assets_of', 'download', 'geo', 'map', 'open', 'to_dict', 'wait'])

export const behavioursIn = (module: Module): string[] =>
  [...new Set([...module.declared.keys()].flatMap((name) => BEHAVIOURS[name] ?? []))].toSorted()

export function declareRecord(name: string, schema: Schema, module: Module, base = BEHAVIOURS[name] ?? 'Record'): void {
  const { properties = {}, required = [], description = '' } = schema
  const wraps: string[] = []
  const lines = Object.entries(properties).map(([field, given]) => {
    if (!isIdentifier(field) || TAKEN.has(field) || field.startsWith('_')) throw new Error(`${name}.${field} cannot be an attribute`)
    const output = outputOf(isGeometry(field) ? geometryOf(given) : given, `${name}${pascal(field)}`, module)
    if (output.wraps !== null) wraps.push(`${quoted(field)}: ${quoted(output.wraps)}`)
    const type = required.includes(field) ? output.type : union([output.type, 'None'])
    return `    ${field}: ${type}\n${docstring(docOf(given), '    ')}`
  })
  const nested = wraps.length === 0 ? '' : `    _nested = {${wraps.join(', ')}}\n`
  const body = `${docstring(description, '    ')}${nested}${lines.join('')}`
  declare(module, name, `class ${name}(${base}):\n${body || '    pass\n'}`)
}

/** The type of something that callers send. Objects without a name are declared as `name`. */
export function inputOf(schema: Schema, name: string, module: Module): string {
  if (schema.$ref) {
    const shared = refName(schema.$ref)
    if (shared === GEOMETRY) return 'GeometryInput'
    module.inputs.add(shared)
    return `${shared}Input`
  }
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
  if (schema.enum) return enumOf(schema.enum)
  const parts = spread(schema)
  if (parts) {
    const isOnlyObject = parts.filter((part) => part.properties).length <= 1
    return union(parts.map((part, index) => inputOf(part, isOnlyObject ? name : `${name}${index + 1}`, module)))
  }
  if (schema.type === 'array') return `Sequence[${schema.items ? inputOf(schema.items, name, module) : 'Any'}]`
  if (schema.properties && Object.keys(schema.properties).length > 0) {
    declareInput(name, schema, module)
    // GeoDataFrames and others say what they are in GeoJSON.
    return ['FeatureCollection', 'Feature'].includes(String(schema.properties['type']?.const)) ? `${name} | GeoInterface` : name
  }
  if (schema.type === 'object') {
    const values = valueOf(schema)
    return `Mapping[str, ${values ? inputOf(values, name, module) : 'Any'}]`
  }
  return SCALARS[schema.type as string] ?? 'Any'
}

export function declareInput(name: string, schema: Schema, module: Module): void {
  const { properties = {}, required = [], description = '' } = schema
  const lines = Object.entries(properties).map(([field, given]) => {
    if (!isIdentifier(field)) throw new Error(`${name}.${field} cannot be a key of a typed dictionary`)
    const type = inputOf(isGeometry(field) ? geometryOf(given) : given, `${name}${pascal(field)}`, module)
    return `    ${field}: ${required.includes(field) ? type : `NotRequired[${type}]`}\n${docstring(docOf(given), '    ')}`
  })
  declare(module, name, `class ${name}(TypedDict):\n${docstring(description, '    ')}${lines.join('') || '    pass\n'}`)
}
