// Goal: nobody has to guess what a field of the published contract means.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#registry.ts'
import { openApiDocument } from './openapi.ts'
import { describeFields, eachDocumentedField, undescribed } from './openapi-fields.ts'

const document = openApiDocument(operations, 'https://imagery.example') as {
  paths: Record<string, unknown>
  components: { schemas: Record<string, unknown> }
}

test('every field of every operation has a description', () => {
  let count = 0
  eachDocumentedField(document.paths, document.components.schemas, () => count++)
  assert.ok(count > 1_000, 'and there are many')
  assert.deepEqual(undescribed(document.paths, document.components.schemas), [])
})

test('a field without one is found, its own words win, and a shared schema is not written to', () => {
  const shared = { type: 'string' }
  const schemas = { Thing: { type: 'object', properties: { name: shared, email: shared, oddity: shared, id: { description: 'Mine' } } } }
  const described = describeFields({ paths: {}, schemas })
  assert.deepEqual(undescribed({}, described.schemas), ['Thing.oddity'])
  const { properties } = described.schemas['Thing'] as { properties: Record<string, { description?: string }> }
  assert.equal(properties['id']!.description, 'Mine')
  assert.notEqual(properties['name']!.description, properties['email']!.description)
  assert.deepEqual(shared, { type: 'string' })
})

test('what answers with a picture says which kinds, and never just bytes', () => {
  const made = Object.entries(
    document.paths as Record<string, Record<string, { responses: Record<string, { content?: object }> }>>,
  ).flatMap(([address, methods]) =>
    Object.values(methods).flatMap(({ responses }) => Object.keys(responses['200']?.content ?? {}).map((type) => ({ address, type }))),
  )
  assert.ok(made.filter(({ type }) => type.startsWith('image/')).length > 20)
  assert.deepEqual(
    made.filter(({ type }) => type === 'application/octet-stream'),
    [],
  )
})

test('routes of signed-in people say that a key is refused', () => {
  const routes = Object.entries(document.paths as Record<string, Record<string, { security?: unknown[]; responses: object }>>)
    .filter(([address]) => address.startsWith('/auth/'))
    .flatMap(([address, methods]) => Object.values(methods).map(({ security = [], responses }) => ({ address, security, responses })))
  const forPeople = routes.filter(({ security }) => security.length > 0)
  assert.ok(forPeople.length > 6)
  for (const { address, responses } of forPeople) assert.ok('403' in responses, address)
})
