/**
 * For the reference in the browser. The contract says of a field that may be null that it is any of two shapes; a reader wants
 * to see one shape, and that it may be null. Nothing that is only true of machines is shown either.
 */
type Json = Record<string, unknown>

const isObject = (node: unknown): node is Json => node !== null && typeof node === 'object' && !Array.isArray(node)
const isNull = (branch: unknown): boolean => isObject(branch) && branch['type'] === 'null'

/** What stands under these is data, whatever it looks like. */
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
 * The heading says that unknown fields are refused, and an object without fields takes any; a pattern beside a format, or for
 * 'not blank', tells nobody anything.
 */
function isForMachines(node: Json, key: string, value: unknown): boolean {
  if (key === 'additionalProperties') return typeof value === 'boolean'
  return key === 'pattern' && (node['format'] !== undefined || value === '\\S')
}

function typesOf({ type, enum: values }: Json): unknown[] {
  if (type !== undefined) return [type].flat()
  return [...new Set((Array.isArray(values) ? values : []).map((value: unknown) => typeof value))]
}
