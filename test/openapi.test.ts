// Goal: the published contract says what every field means in its place, and generators find one named schema for each shape.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { GEOJSON_SCHEMAS } from '#http/openapi-geojson.ts'
import { openApiDocument } from '#http/openapi.ts'
import { operations } from '#registry.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  additionalProperties?: boolean | Schema
  patternProperties?: Record<string, Schema>
  enum?: unknown[]
  const?: unknown
}
interface Body {
  description?: string
  content?: Record<string, { schema: Schema }>
}
interface Operation {
  operationId: string
  security?: unknown[]
  requestBody?: Body
  responses: Record<string, Body>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const document = JSON.parse(JSON.stringify(openApiDocument(operations, 'http://127.0.0.1:8080'))) as Document
const { schemas } = document.components
const routes = Object.entries(document.paths).flatMap(([address, methods]) =>
  Object.values(methods).map((operation) => ({ address, operation })),
)

const partsOf = (schema: Schema): Schema[] => [
  ...(schema.items ? [schema.items] : []),
  ...(schema.anyOf ?? []),
  ...(schema.oneOf ?? []),
  ...(schema.allOf ?? []),
  ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
  ...Object.values(schema.patternProperties ?? {}),
]

interface Field {
  where: string
  name: string
  schema: Schema
}

/** Every schema under this one, itself first, with the field that it is of. */
function eachSchema(
  schema: Schema,
  where: string,
  see: (schema: Schema, where: string, field: string | null) => void,
  field: string | null = null,
) {
  see(schema, where, field)
  for (const [name, member] of Object.entries(schema.properties ?? {})) eachSchema(member, `${where}.${name}`, see, name)
  for (const part of partsOf(schema)) eachSchema(part, where, see)
}

function everySchema(see: (schema: Schema, where: string, field: string | null) => void): void {
  for (const [name, schema] of Object.entries(schemas)) eachSchema(schema, name, see)
  for (const { operation } of routes)
    for (const body of [operation.requestBody, ...Object.values(operation.responses)])
      for (const { schema } of Object.values(body?.content ?? {})) eachSchema(schema, operation.operationId, see)
}

function everyField(): Field[] {
  const fields: Field[] = []
  everySchema((schema, where, name) => {
    if (name !== null) fields.push({ where, name, schema })
  })
  return fields
}

const nameOf = (ref: string) => ref.split('/').at(-1)!
const resolved = (schema: Schema): Schema => (schema.$ref ? resolved(schemas[nameOf(schema.$ref)]!) : schema)
/** Of the field, or of the shape that it refers to. */
const descriptionOf = (schema: Schema): string | undefined =>
  schema.description ?? (schema.$ref ? resolved(schema).description : schema.anyOf?.filter(({ $ref }) => $ref).map(descriptionOf)[0])
const isNull = (schema: Schema): boolean => schema.type === 'null' || (Array.isArray(schema.type) && schema.type.includes('null'))
const isNullable = (schema: Schema): boolean => isNull(schema) || (schema.anyOf ?? []).some(isNullable)

/** What a field holds, without its bounds and whether it can be null. */
function kindOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref)
  if (schema.enum) return JSON.stringify(schema.enum.toSorted())
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.anyOf) return [...new Set(schema.anyOf.filter((part) => !isNull(part)).map(kindOf))].toSorted().join(' or ')
  const type = Array.isArray(schema.type) ? schema.type.filter((each) => each !== 'null').join(' or ') : String(schema.type)
  return type === 'array' && schema.items ? `array of ${kindOf(schema.items)}` : type === 'integer' ? 'number' : type
}

test('every field of every request and response has a description', () => {
  const fields = everyField()
  assert.ok(fields.length > 1_500, `${fields.length} fields`)
  const bare = fields.filter(({ schema }) => !descriptionOf(schema)?.trim())
  assert.deepEqual(
    bare.map(({ where }) => where),
    [],
  )
  assert.deepEqual(
    Object.keys(schemas).filter((name) => !schemas[name]!.description),
    [],
  )
})

/** Words that mean the same whatever the field is called. */
const GENERIC: readonly string[] = [
  '1-based band number',
  'Acquisition time; null if unknown',
  'Always `true`',
  'Area to render, as GeoJSON Polygon or MultiPolygon text',
  'Asset key',
  'Asset key; null for the default asset',
  'Bounding box as west, south, east, north in degrees',
  'Bytes that can be downloaded in any 24 hours',
  'Collection name',
  'Data product name',
  'File name',
  'File size in bytes; null if unknown',
  'Ground resolution in metres per pixel',
  'Ground resolution in metres per pixel; null if it varies',
  'IDs of the created items',
  "JSON Schema of the order's `params`",
  'Maximum cloud cover in percent',
  'Maximum off-nadir angle in degrees',
  'Method name from `analytics.operations.list`',
  'Parameters of the process',
  'Price in Australian dollars',
  'Provider name',
  'Same as `required_bands`',
  'Satellite name',
  'Total number of pages',
  'URL of a Cloud-Optimized GeoTIFF on an allowed host',
  'Whether automatic top-up is on',
]
/** `id` of a thing, and `item_id` or `itemId` elsewhere, are the same. */
const isIdName = (name: string) => /^(\w*_)?id$|Id$|^id$/.test(name)

test('fields share a description only if they mean the same', () => {
  const uses = Map.groupBy(
    everyField().filter(({ schema }) => schema.description !== undefined),
    ({ schema }) => schema.description!,
  )
  const wrong: string[] = []
  for (const [text, fields] of uses) {
    const names = new Set(fields.filter(({ name }) => !isIdName(name)).map(({ name }) => name.replaceAll('_', '').toLowerCase()))
    const kinds = new Set(fields.map(({ schema }) => kindOf(schema)))
    if (names.size > 1 && !GENERIC.includes(text)) wrong.push(`${text}: ${fields.map(({ where }) => where).join(', ')}`)
    else if (kinds.size > 1) wrong.push(`${text}: ${[...kinds].join(' and ')} in ${fields.map(({ where }) => where).join(', ')}`)
  }
  assert.deepEqual(wrong, [])
})

test('a description that mentions null is of a field that can be null', () => {
  const wrong = everyField().filter(({ schema }) => /\bnull\b/i.test(schema.description ?? '') && !isNullable(schema))
  assert.deepEqual(
    wrong.map(({ where, schema }) => `${where}: ${schema.description}`),
    [],
  )
})

test('descriptions follow the style guide', () => {
  const riddles = /\b(what people|somebody|which kind it is|by itself|How many|When it|Its id|What it|Who made|for people)\b/
  const wrong = everyField().filter(({ schema }) => riddles.test(schema.description ?? ''))
  assert.deepEqual(
    wrong.map(({ where, schema }) => `${where}: ${schema.description}`),
    [],
  )
})

test('arrays have items, and images are binary strings', () => {
  const loose: string[] = []
  everySchema((schema, where) => {
    if (schema.type === 'array' && !schema.items) loose.push(where)
  })
  assert.deepEqual(loose, [])
  const images = routes.flatMap(({ operation }) =>
    Object.values(operation.responses).flatMap(({ content = {} }) =>
      Object.entries(content)
        .filter(([type]) => type.startsWith('image/'))
        .map(([type, { schema }]) => ({ where: `${operation.operationId} ${type}`, schema })),
    ),
  )
  assert.ok(images.length > 20)
  for (const { where, schema } of images) assert.deepEqual(schema, { type: 'string', format: 'binary' }, where)
})

test('GeoJSON is referred to, never repeated', () => {
  for (const name of ['Geometry', 'AreaGeometry', 'Polygon', 'Feature', 'FeatureCollection']) assert.ok(schemas[name], name)
  const inline: string[] = []
  everySchema((schema, where, field) => {
    const isGeometry = field !== null && /^(geometry|\w*_geometry|intersects|clip_polygon|featureCollection)$/.test(field)
    const targets = [schema, ...(schema.anyOf ?? [])].filter((part) => !isNull(part) && !part.anyOf)
    if (isGeometry && targets.some(({ $ref }) => $ref === undefined)) inline.push(where)
    const type = schema.properties?.['type']?.const
    const owner = where.split('.')[0]!
    if (typeof type === 'string' && type in GEOJSON_SCHEMAS && !(owner in GEOJSON_SCHEMAS) && where !== owner) inline.push(where)
  })
  assert.deepEqual(inline, [])
})

test('every request body is a named component', () => {
  const bodies = routes.filter(({ operation }) => operation.requestBody)
  assert.ok(bodies.length > 200)
  const unnamed = bodies.filter(({ operation }) =>
    Object.values(operation.requestBody!.content!).some(({ schema }) => !schema.$ref || !schemas[nameOf(schema.$ref)]),
  )
  assert.deepEqual(
    unnamed.map(({ operation }) => operation.operationId),
    [],
  )
  assert.ok(schemas['OrdersArchivePlaceRequest'])
})

test('a schema that is used twice has a name', () => {
  const places = new Map<string, string[]>()
  everySchema((schema, where) => {
    if (Object.keys(schema.properties ?? {}).length < 2 || where in schemas) return
    const text = JSON.stringify({ ...schema, description: '' })
    places.set(text, [...(places.get(text) ?? []), where])
  })
  assert.deepEqual(
    [...places.values()].filter((list) => list.length > 1),
    [],
  )
})

test('every response has a description, and every reference resolves', () => {
  for (const { operation } of routes)
    for (const [status, { description }] of Object.entries(operation.responses).filter(([status]) => status.startsWith('2')))
      assert.ok(description && description !== 'Done', `${operation.operationId} ${status}`)
  for (const [, kind, name] of JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g))
    assert.ok((document.components as unknown as Record<string, object>)[kind!]![name! as keyof object], `${kind} ${name}`)
})

test('image responses list their media types', () => {
  const types = routes.flatMap(({ operation }) => Object.keys(operation.responses['200']?.content ?? {}))
  assert.deepEqual(
    types.filter((type) => type === 'application/octet-stream'),
    [],
  )
})

test('routes for signed-in users document that keys are rejected', () => {
  const signedIn = routes.filter(({ address, operation }) => address.startsWith('/auth/') && (operation.security ?? []).length > 0)
  assert.ok(signedIn.length > 6)
  for (const { address, operation } of signedIn) assert.ok('403' in operation.responses, address)
})

test('the written document has one line for each path and component', () => {
  const text = readFileSync(path.join(import.meta.dirname, '../docs/openapi.json'), 'utf8')
  const count = Object.values(document.components).reduce(
    (sum, members) => sum + Object.keys(members).length,
    Object.keys(document.paths).length,
  )
  assert.ok(text.split('\n').length < count + 40, `${text.split('\n').length} lines`)
  assert.deepEqual((JSON.parse(text) as Document).paths, document.paths)
})
