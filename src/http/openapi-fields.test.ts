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
