/**
 * For the reference in the browser. In the contract, a nullable field is any of two schemas; a reader wants to see one type, and
 * that it can be null. Details that only programs need are hidden, too.
 */
type Json = Record<string, unknown>

const isObject = (node: unknown): node is Json => node !== null && typeof node === 'object' && !Array.isArray(node)
const isNull = (branch: unknown): boolean => isObject(branch) && branch['type'] === 'null'

/** Values of these keywords are data, not schemas. */
const DATA = ['example', 'examples', 'default', 'enum', 'const']

export function withPlainNulls(contract: Json): Json {
  const shapes = (contract['components'] as { schemas: Record<string, Json> }).schemas
  return plain(contract) as Json

  function plain(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(plain)
    if (!isObject(node)) return node
    const { anyOf, ...rest } = node
    if (Array.isArray(anyOf) && anyOf.some(isNull)) return plain(merged(anyOf.filter((branch) => !isNull(branch)) as Json[], rest))
    const entries = Object.entries(node).filter(([key, value]) => !isForMachines(node, key, value))
    return Object.fromEntries(entries.map(([key, value]) => [key, DATA.includes(key) ? value : plain(value)]))
  }

  function merged(branches: readonly Json[], rest: Json): Json {
    const [only, ...more] = branches.map(target)
    if (!only || more.length > 0) return { ...rest, anyOf: branches, type: 'null' }
    if (Array.isArray(only['anyOf'])) return { ...only, ...rest, type: 'null' }
    return { ...only, ...rest, type: [...typesOf(only), 'null'] }
  }

  function target(schema: Json): Json {
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1)! : null
    return name === null ? schema : { title: name, ...target(shapes[name]!) }
  }
}

/**
 * The introduction says that unknown fields are rejected, and an object without fields accepts any; a pattern beside a format, or
 * for 'not blank', is no help to a reader.
 */
function isForMachines(node: Json, key: string, value: unknown): boolean {
  if (key === 'additionalProperties') return typeof value === 'boolean'
  return key === 'pattern' && (node['format'] !== undefined || value === '\\S')
}

function typesOf({ type, enum: values }: Json): unknown[] {
  if (type !== undefined) return [type].flat()
  return [...new Set((Array.isArray(values) ? values : []).map((value: unknown) => typeof value))]
}
