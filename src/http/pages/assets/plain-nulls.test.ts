import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { withPlainNulls } from './plain-nulls.ts'

interface Schema {
  type?: string | string[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  enum?: unknown[]
  description?: string
}
interface Contract {
  paths: Record<string, Record<string, { operationId: string }>>
  components: { schemas: Record<string, Schema> }
}

const published = JSON.parse(readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'))
const isNull = ({ type }: Schema) => type === 'null'

/** Schemas that say 'any of … or null', each with where it stands; what is data and no schema is passed over. */
function* unions(node: unknown, at = ''): Generator<string> {
  if (node === null || typeof node !== 'object') return
  const { anyOf } = node as Schema
  if (Array.isArray(anyOf) && anyOf.some(isNull)) yield at
  for (const [key, value] of Object.entries(node)) if (!['example', 'default', 'enum'].includes(key)) yield* unions(value, `${at}/${key}`)
}

// Goal: in the reference, a nullable field has one type, such as 'string or null', in every operation; nothing else is lost.
test('the contract as the reference shows it', async (t) => {
  const shown = withPlainNulls(published) as unknown as Contract

  await t.test('no operation and no schema says “any of … or null”', () => {
    assert.ok([...unions(published)].length > 500, 'the published contract does')
    assert.deepEqual([...unions(shown)], [])
  })

  await t.test('a nullable string, choice, schema, and choice of schemas', () => {
    const objectWith = (field: unknown) =>
      withPlainNulls({
        components: { schemas: { Area: { type: 'object', properties: { km2: { type: 'number' } }, additionalProperties: false } } },
        field,
      })['field']
    const nil = { type: 'null' }
    assert.deepEqual(objectWith({ anyOf: [{ type: 'string', format: 'date-time', pattern: '^.{17}[0-5]' }, nil], description: 'When' }), {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When',
    })
    assert.deepEqual(objectWith({ anyOf: [{ enum: ['a', 'b'] }, nil] }), { enum: ['a', 'b'], type: ['string', 'null'] })
    assert.deepEqual(objectWith({ anyOf: [{ $ref: '#/components/schemas/Area' }, nil] }), {
      title: 'Area',
      type: ['object', 'null'],
      properties: { km2: { type: 'number' } },
    })
    const either = { anyOf: [{ type: 'string' }, { type: 'number' }] }
    assert.deepEqual(objectWith({ anyOf: [...either.anyOf, nil] }), { ...either, type: 'null' })
    assert.deepEqual(objectWith({ anyOf: [either, nil] }), { ...either, type: 'null' })
  })

  await t.test('every operation is there, and every field of every schema with its description', () => {
    const operations = ({ paths }: Contract) =>
      Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
    assert.deepEqual(operations(shown), operations(published as Contract))
    for (const [name, { properties = {} }] of Object.entries((published as Contract).components.schemas))
      for (const [field, schema] of Object.entries(properties)) {
        const { description } = shown.components.schemas[name]!.properties![field]!
        const own = schema.description ?? schema.anyOf?.find((branch) => branch.description)?.description
        if (own !== undefined) assert.equal(description, own, `${name}.${field}`)
      }
  })
})
