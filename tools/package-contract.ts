/**
 * The published contract as the packages are generated from it: bodies that belong to one operation stand in the operation, and
 * GeoJSON is an open object, for which the client has types of its own.
 */
import { GEOJSON_SCHEMAS } from '#http/openapi-geojson.ts'
import type { Document } from './client-source.ts'
import { refName, type Schema } from './typescript.ts'

const ANYTHING: Schema = {}
const OPEN_OBJECT: Schema = { type: 'object', additionalProperties: true }

type Schemas = Readonly<Record<string, Schema>>

export function packageContract(document: Document): Document {
  const { schemas } = document.components
  const own = new Set(operationsOf(document).flatMap(ownNames))
  const opened = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(opened)
    if (node === null || typeof node !== 'object') return node
    const { $ref, description } = node as Schema
    if ($ref === undefined) return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, opened(value)]))
    const name = refName($ref)
    const words = description === undefined ? {} : { description }
    if (own.has(name)) return opened(schemas[name])
    if (name === 'Feature') return { ...ANYTHING, ...words }
    return name in GEOJSON_SCHEMAS ? { ...OPEN_OBJECT, ...words } : node
  }
  const shared = Object.entries(schemas).filter(([name]) => !own.has(name) && !(name in GEOJSON_SCHEMAS))
  const { paths } = document
  return {
    ...document,
    paths: opened(paths) as Document['paths'],
    components: { ...document.components, schemas: opened(Object.fromEntries(shared)) as Schemas },
  }
}

type Operation = Document['paths'][string][string]

const operationsOf = ({ paths }: Document): Operation[] => Object.values(paths).flatMap((methods) => Object.values(methods))

/** Names of the bodies of one operation, which are its id with an ending. */
function ownNames({ operationId, requestBody, responses }: Operation): string[] {
  const stem = operationId.replaceAll(/[^A-Za-z0-9]+/g, '').toLowerCase()
  return [requestBody, ...Object.values(responses)]
    .flatMap((body) => Object.values(body?.content ?? {}))
    .flatMap(({ schema }) => (schema?.$ref === undefined ? [] : [refName(schema.$ref)]))
    .filter((name) => [`${stem}request`, `${stem}response`].includes(name.toLowerCase()))
}
