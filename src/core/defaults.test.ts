// Goal: defaults are filled in exactly as the schema library does, for every kind of field that operations have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Type } from 'typebox'
import { Default } from 'typebox/value'
import { defaultsOf } from './defaults.ts'

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(inner: T) => Type.Union([inner, Type.Null()])

const SCHEMA = Type.Object({
  plain: Type.String(),
  limit: Type.Optional(Type.Integer({ default: 20 })),
  format: Type.Optional(Type.Union([Type.Literal('png'), Type.Literal('webp')], { default: 'png' })),
  maybe: Type.Optional(Nullable(Type.String())),
  list: Type.Optional(Type.Array(Type.Integer(), { default: [1, 2] })),
  inner: Type.Optional(Type.Object({ on: Type.Optional(Type.Boolean({ default: true })), name: Type.Optional(Type.String()) })),
  filled: Type.Optional(Type.Object({ deep: Type.Optional(Type.Integer({ default: 7 })) }, { default: {} })),
  rows: Type.Optional(Type.Array(Type.Object({ size: Type.Optional(Type.Integer({ default: 3 })) }))),
  choice: Type.Optional(Nullable(Type.Object({ size: Type.Optional(Type.Integer({ default: 5 })) }))),
  named: Type.Optional(Type.Record(Type.String(), Type.Object({ size: Type.Optional(Type.Integer({ default: 9 })) }))),
})

const anything = fc.oneof(
  fc.constant(undefined),
  fc.constant(null),
  fc.integer(),
  fc.string(),
  fc.boolean(),
  fc.constant([]),
  fc.constant({}),
)
const object = fc.oneof(anything, fc.dictionary(fc.constantFrom('on', 'name', 'deep', 'size'), anything, { noNullPrototype: true }))
const field = fc.oneof(object, fc.array(object, { maxLength: 3 }), fc.dictionary(fc.string(), object, { noNullPrototype: true }))
const input = fc.dictionary(fc.constantFrom(...Object.keys(SCHEMA.properties), 'unknown'), field, { noNullPrototype: true })

test('any input gets the defaults that the library would set', () => {
  const fill = defaultsOf(SCHEMA)!
  fc.assert(
    fc.property(fc.oneof(input, field), (value) => assert.deepEqual(fill(structuredClone(value)), Default(SCHEMA, structuredClone(value)))),
  )
})

test('a default belongs to one call: changing it does not change the next', () => {
  const fill = defaultsOf(SCHEMA)!
  const first = fill({}) as { list: number[] }
  first.list.push(3)
  assert.deepEqual((fill({}) as { list: number[] }).list, [1, 2])
})

test('a schema without defaults has nothing to fill in', () => {
  assert.equal(defaultsOf(Type.Object({ a: Type.String(), b: Nullable(Type.Integer()) })), null)
})
