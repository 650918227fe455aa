/** Gives every field of the published contract a description: its schema's own, or what its name means everywhere. */
import { FIELDS } from '#contract/fields.ts'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => value !== null && typeof value === 'object' && !Array.isArray(value)

/** A description of its own, or that of the shape behind a reference. */
function isDescribed(schema: Json): boolean {
  if (typeof schema['description'] === 'string' || typeof schema['$ref'] === 'string') return true
  return ['anyOf', 'oneOf'].some(
    (key) => Array.isArray(schema[key]) && schema[key].some((branch) => isObject(branch) && isDescribed(branch)),
  )
}

/** Calls `see` for every field of a schema, fields of fields included. */
function eachField(schema: unknown, see: (name: string, field: Json) => void): void {
  if (Array.isArray(schema)) for (const branch of schema) eachField(branch, see)
  if (!isObject(schema)) return
  if (isObject(schema['properties'])) {
    for (const [name, field] of Object.entries(schema['properties'])) {
      if (!isObject(field)) continue
      see(name, field)
      eachField(field, see)
    }
  }
  for (const key of ['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf']) eachField(schema[key], see)
}

/** Calls `see` for every field of the document, with the operation or the named shape that it stands in. */
export function eachDocumentedField(paths: Json, schemas: Json, see: (where: string, name: string, field: Json) => void): void {
  for (const [shape, schema] of Object.entries(schemas)) eachField(schema, (name, field) => see(shape, name, field))
  for (const methods of Object.values(paths).filter(isObject)) {
    for (const operation of Object.values(methods).filter(isObject)) {
      const where = String(operation['operationId'])
      for (const { schema } of [operation['requestBody'], ...Object.values(operation['responses'] as Json)].flatMap(contents))
        eachField(schema, (name, field) => see(where, name, field))
    }
  }
}

const contents = (part: unknown): { schema?: unknown }[] =>
  isObject(part) && isObject(part['content']) ? (Object.values(part['content']) as { schema?: unknown }[]) : []

interface Contract {
  paths: Json
  schemas: Json
}

/** A copy, every field of which is an object of its own. Fields that stay without a description are a test's to find. */
export function describeFields(given: Contract): Contract {
  const { paths, schemas } = JSON.parse(JSON.stringify(given)) as Contract
  eachDocumentedField(paths, schemas, (where, name, field) => {
    const words = FIELDS[`${where}.${name}`] ?? FIELDS[name]
    if (!isDescribed(field) && words !== undefined) field['description'] = words
  })
  return { paths, schemas }
}

/** Names of fields that say nothing of themselves, each with where it stands. */
export function undescribed(paths: Json, schemas: Json): string[] {
  const found: string[] = []
  eachDocumentedField(paths, schemas, (where, name, field) => {
    if (!isDescribed(field)) found.push(`${where}.${name}`)
  })
  return found
}
