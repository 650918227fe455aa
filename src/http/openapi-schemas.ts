/** Schemas of operations in the published contract: every named schema once, in `components.schemas`. */
import type { AnyOperation } from '#operation.ts'
import { GEOJSON_SCHEMAS } from './openapi-geojson.ts'

export type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => value !== null && typeof value === 'object' && !Array.isArray(value)
const refTo = (name: string, description?: unknown): Json => ({
  $ref: `#/components/schemas/${name}`,
  ...(typeof description === 'string' ? { description } : {}),
})

/** `items.list_assets` becomes `ItemsListAssets`. */
const pascal = (id: string) =>
  id
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('')

/** Keywords whose values are data, not schemas. */
const VALUES = ['default', 'enum', 'const', 'required', 'examples']

/** Named schemas move to `components.schemas`, so that generated clients get one type for each. */
export function hoist(schema: unknown, schemas: Json): Json {
  return walk(schema) as Json

  function walk(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(walk)
    if (!isObject(node)) return node
    const { $id, 'x-documented-required': alsoRequired, 'x-documented-as': shared, 'x-description': own, ...rest } = node
    // A recursive schema has its definitions beside it.
    for (const [name, definition] of Object.entries((rest['$defs'] as Json | undefined) ?? {})) {
      const plain = walk(definition) // A definition with its own name has been added by now.
      schemas[name] ??= plain
    }
    if (typeof rest['$ref'] === 'string') return refTo(rest['$ref'], rest['description'])
    if (typeof shared === 'string') return refTo(useGeoJson(shared, schemas), rest['description'])
    if (typeof $id === 'string' && schemas[$id]) return refTo($id, own)
    const plain: Json = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, VALUES.includes(key) ? value : walk(value)]))
    if (Array.isArray(alsoRequired)) plain['required'] = [...((plain['required'] as string[] | undefined) ?? []), ...alsoRequired]
    const lifted = withOneDescription(plain)
    if (typeof $id !== 'string') return lifted
    schemas[$id] = lifted
    return refTo($id, own)
  }
}

/** The description of a nullable field belongs to the field, not to one of its types. */
function withOneDescription(schema: Json): Json {
  const types = schema['anyOf']
  if (!Array.isArray(types) || types.length !== 2 || !types.some((type) => isObject(type) && type['type'] === 'null')) return schema
  const text = schema['description'] ?? types.map((type: Json) => type['description']).find((words) => words !== undefined)
  if (text === undefined) return schema
  const bare = (type: Json) => Object.fromEntries(Object.entries(type).filter(([key]) => key !== 'description'))
  return { ...schema, description: text, anyOf: types.map(bare) }
}

/** Adds a GeoJSON schema, and those that it refers to. */
function useGeoJson(name: string, schemas: Json): string {
  const schema = GEOJSON_SCHEMAS[name]!
  if (schemas[name]) return name
  schemas[name] = schema
  for (const [, used] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)) useGeoJson(used!, schemas)
  return name
}

/** A reference to the schema by its own name, or by the given name. */
export function named(name: string, schema: unknown, schemas: Json, description?: string): Json {
  const plain = hoist(schema, schemas)
  if (typeof plain['$ref'] === 'string') return { $ref: plain['$ref'] }
  schemas[name] = { ...(description === undefined ? {} : { description }), ...plain }
  return refTo(name)
}

export const requestName = (id: string) => `${pascal(id)}Request`
export const responseName = (id: string) => `${pascal(id)}Response`

/** The `description` of a successful response: what it contains. */
export function returned(op: AnyOperation, schemas: Json): string {
  if (op.raw === 'bytes') return op.mediaTypes?.every((type) => type.startsWith('image/')) ? 'The image' : 'The file'
  if (op.raw === 'xml') return 'The XML document'
  const text = descriptionOf(hoist(op.output, schemas), schemas)
  if (text === undefined) throw new Error(`The output of ${op.id} needs a description`)
  return op.raw === 'ndjson' ? `Newline-delimited JSON. ${text}` : text
}

/** Its own description, or that of its only field or list. */
function descriptionOf(schema: Json, schemas: Json): string | undefined {
  const shape = typeof schema['$ref'] === 'string' ? (schemas[schema['$ref'].split('/').at(-1)!] as Json) : schema
  if (typeof shape['description'] === 'string') return shape['description']
  const fields = Object.values((shape['properties'] as Record<string, Json> | undefined) ?? {})
  const main = fields.length === 1 ? fields[0] : fields.find(({ type }) => type === 'array')
  return main && descriptionOf(main, schemas)
}

interface Parameter {
  name: string
}

/** Parameters that several routes have in common move to `components.parameters`. */
export function shareParameters(paths: Json, parameters: Json): void {
  const routes = Object.values(paths).flatMap((methods) => Object.values(methods as Record<string, { parameters?: Parameter[] }>))
  const uses = new Map<string, number>()
  for (const parameter of routes.flatMap((route) => route.parameters ?? [])) {
    const text = JSON.stringify(parameter)
    uses.set(text, (uses.get(text) ?? 0) + 1)
  }
  for (const route of routes)
    route.parameters &&= route.parameters.map((parameter) => {
      const name = pascal(parameter.name ?? '')
      if (name === '' || uses.get(JSON.stringify(parameter)) === 1) return parameter
      parameters[name] ??= parameter
      const isSame = JSON.stringify(parameters[name]) === JSON.stringify(parameter)
      return isSame ? ({ $ref: `#/components/parameters/${name}` } as object as Parameter) : parameter
    })
}
