import assert from 'node:assert/strict'
import { test } from 'node:test'
import Type from 'typebox'
import { Choice, Closed, NotBlank, Nullable, PATTERN_MESSAGES, Timestamp, Uuid } from '#core/shapes.ts'
import { operations } from '#registry.ts'
import { validatorOf } from '#core/validate.ts'
import { explainErrors } from '#core/input-errors.ts'

const Shape = Closed({
  count: Type.Optional(Nullable(Type.Integer({ minimum: 1 }))),
  name: Type.Optional(Nullable(NotBlank(10))),
  at: Type.Optional(Timestamp),
  mode: Type.Optional(Nullable(Choice(['fast', 'slow']))),
  project_id: Type.Optional(Uuid),
  box: Type.Optional(Nullable(Type.Array(Type.Number(), { minItems: 4 }))),
  target: Type.Optional(Type.Union([Closed({ item: Type.String() }), Closed({ order: Type.String(), part: Type.Integer() })])),
})

const explained = (input: object) =>
  Object.fromEntries(explainErrors(Shape, validatorOf(Shape).Errors(input), input).map(({ field, message }) => [field, message]))

// Goal: every wrong field is named once, with what to send instead, and nothing of a schema's own language is shown.
test('what is wrong with an input is said in words', async (t) => {
  await t.test('one cause for each field, whatever else it might have been', () => {
    assert.deepEqual(explained({ count: 'x', name: '  ', at: 'yesterday', mode: 'quick', project_id: 'p', box: [1, 'a', 2, 3] }), {
      count: 'must be an integer or null',
      name: 'must not be blank',
      at: 'must be a timestamp such as 2026-03-01T09:30:00Z',
      mode: 'must be one of fast, slow',
      project_id: 'must be a UUID such as 0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10',
      'box.1': 'must be a number',
    })
    assert.deepEqual(explained({ count: 0 }), { count: 'must be >= 1' })
  })

  await t.test('of several shapes, the one that it comes nearest to', () => {
    assert.deepEqual(explained({ target: { order: 'o' } }), { 'target.part': 'is required' })
    assert.deepEqual(explained({ target: 7 }), { target: 'must be an object' })
  })

  await t.test('a misspelt field is led to its name', () => {
    assert.deepEqual(explained({ projectid: 'x', colour: 1 }), {
      projectid: 'is not a field of this operation; did you mean project_id? Its fields are count, name, at, mode, project_id, box, target',
      colour: 'is not a field of this operation; its fields are count, name, at, mode, project_id, box, target',
    })
  })

  await t.test('every pattern of every operation has its words', () => {
    const patterns = [...operations.values()].flatMap(({ input }) => [
      ...JSON.stringify(input).matchAll(/"pattern":("(?:[^"\\\\]|\\\\.)*")/g),
    ])
    assert.ok(patterns.length > 5)
    for (const [, pattern] of patterns) assert.ok(JSON.parse(pattern!) in PATTERN_MESSAGES, `the pattern ${pattern} has no words`)
  })
})
