import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MONEY } from '#core/money-shapes.ts'
import { operations } from '#registry.ts'
import { world } from '../support/world.ts'

interface Schema {
  type?: string
  minimum?: number
  maximum?: number
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  [MONEY]?: string
}

interface MoneyField {
  id: string
  path: readonly (string | 0)[]
  schema: Schema
}

/** Names of amounts, and of prices for a unit. */
const NAMED_AS_MONEY = /credits|(^|_)aud($|_)|cents/i

/** Every field with a number somewhere in an input, by the path to it. */
function* fieldsOf(schema: Schema, path: readonly (string | 0)[] = []): Generator<{ path: readonly (string | 0)[]; schema: Schema }> {
  for (const branch of schema.anyOf ?? []) yield* fieldsOf(branch, path)
  for (const [name, inner] of Object.entries(schema.properties ?? {})) yield* fieldsOf(inner, [...path, name])
  if (schema.items) yield* fieldsOf(schema.items, [...path, 0])
  if (schema.type === 'number' || schema.type === 'integer') yield { path, schema }
}

const money: MoneyField[] = [...operations.values()].flatMap(({ id, input }) =>
  [...fieldsOf(input as Schema)]
    .filter(({ path, schema }) => MONEY in schema || NAMED_AS_MONEY.test(String(path.findLast((part) => part !== 0) ?? '')))
    .map((field) => ({ id, ...field })),
)

/** The example of an operation with another value in one place. */
function withValue(example: unknown, [head, ...rest]: readonly (string | 0)[], value: number): unknown {
  if (head === undefined) return value
  if (head === 0) return [withValue(Array.isArray(example) ? example[0] : {}, rest, value)]
  const { [head]: inner, ...others } = (example ?? {}) as Record<string, unknown>
  return { ...others, [head]: withValue(inner, rest, value) }
}

const LARGE = 1e15

// Goal: one rule for money in every operation that takes some: credits are whole, dollars have at most two decimals, both have a
// minimum and a maximum, and a value outside is 422 with its field; no value is a server error.
test('money inputs', async (t) => {
  await t.test('every one is made of the shared shapes', () => {
    assert.ok(money.length >= 14, `${money.length} money inputs were found`)
    for (const { id, path, schema } of money) {
      assert.ok(MONEY in schema, `${id} ${path.join('.')}`)
      assert.ok(schema.minimum !== undefined && schema.maximum !== undefined, `${id} ${path.join('.')} has both bounds`)
    }
  })

  const w = await world(t)
  const org = await w.organization()
  const staff = await w.serviceToken()
  const send = ({ id, path }: MoneyField, value: number) => {
    const { example, scope } = operations.get(id)!
    return w.call(scope.startsWith('admin:') ? staff : org.owner.token, id, withValue(example.input, path, value) as object)
  }

  for (const field of money)
    await t.test(`${field.id} ${field.path.join('.')}`, async () => {
      const { type, minimum, maximum } = field.schema
      const tooFine =
        type === 'integer' ? fc.double({ min: 0.001, max: 1e6, noNaN: true }) : fc.double({ min: 1e-9, max: 0.0099, noNaN: true })
      const wrong = fc.oneof(
        tooFine.filter((value) => !Number.isInteger(value)),
        fc.constantFrom(1e-9, 1.005, 0.001, 1e300, -1e300),
        fc.double({ min: minimum! - LARGE, max: minimum!, maxExcluded: true, noNaN: true }).filter((value) => value < minimum!),
        fc.double({ min: maximum! * 1.001, max: 1e300, noNaN: true }),
      )
      await fc.assert(
        fc.asyncProperty(wrong, async (value) => {
          const { status, body } = await send(field, value)
          assert.equal(status, 422, `${value}: ${JSON.stringify(body)}`)
          const names = (body.errors as { field: string }[]).map((error) => error.field)
          assert.ok(names.includes(field.path.join('.')), `${value}: ${JSON.stringify(body)}`)
        }),
        { numRuns: 12, seed: 25_028 },
      )
      const cents = fc.integer({ min: Math.max(1, Math.ceil(minimum! * 100)), max: 100_000_00 }).map((value) => value / 100)
      const right = type === 'integer' ? fc.integer({ min: Math.max(minimum!, -1_000_000), max: Math.min(maximum!, 1_000_000) }) : cents
      await fc.assert(
        fc.asyncProperty(right, async (value) => {
          const { status, body } = await send(field, value)
          assert.ok(status < 500, `${value}: ${JSON.stringify(body)}`)
          if (status === 422) assert.doesNotMatch(JSON.stringify(body), /decimals|must be (>=|<=|an integer)/, `${value}`)
        }),
        { numRuns: 6, seed: 25_028 },
      )
    })
})
