import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isJsonText, jsonText, jsonValue } from '../../packages/console/src/parts/json-text.ts'
import { errorOf, labelOf, listValue, optionValue, orderedFields } from '../../packages/console/src/parts/schema-values.ts'
import { exampleFor } from '../../packages/console/src/screens/jobs/example-values.ts'

// Goal: a schema becomes a form that people can read, and what they type becomes the value that the schema means.
test('names of fields become labels', () => {
  const cases = { item_id: 'Item', source_item_id: 'Source item', item_ids: 'Items', maxCloudCover: 'Max cloud cover', kind: 'Kind' }
  for (const [name, label] of Object.entries(cases)) assert.equal(labelOf(name), label)
})

test('required fields, items and areas come first, the rest follows, and none is lost', () => {
  const string = { type: 'string' }
  const properties = { note: string, item_id: string, geometry: { type: 'object' }, size: { type: 'integer' }, item_ids: { type: 'array' } }
  assert.deepEqual(orderedFields({ properties, required: ['size'] }), {
    first: ['item_id', 'geometry', 'size', 'item_ids'],
    rest: ['note'],
  })
  assert.deepEqual(orderedFields({ properties: { geometry: string } }), { first: [], rest: ['geometry'] }, 'text is no area to draw')
  assert.deepEqual(orderedFields({}), { first: [], rest: [] })
  const names = fc.dictionary(fc.constantFrom('item_id', 'geometry', 'note', 'size', 'mask_item_id'), fc.constant(string))
  fc.assert(
    fc.property(names, fc.subarray(['note', 'size', 'absent']), (given, required) => {
      const { first, rest } = orderedFields({ properties: given, required })
      assert.deepEqual([...first, ...rest].toSorted(), Object.keys(given).toSorted())
    }),
  )
})

test('an error is shown at its field, wherever the form is within the input', () => {
  const errors = [
    { field: 'inputs.bands.0', message: 'must be an integer' },
    { field: 'name', message: 'must not be empty' },
  ]
  assert.equal(errorOf(errors, 'bands'), 'must be an integer')
  assert.equal(errorOf(errors, 'name'), 'must not be empty')
  assert.equal(errorOf(errors, 'band'), undefined)
  assert.equal(errorOf(errors, 'nam'), undefined)
})

test('options and lists have the type that the schema asks for', () => {
  assert.equal(optionValue({ type: 'integer' }, '512'), 512)
  assert.equal(optionValue({ type: 'number' }, '0.5'), 0.5)
  assert.equal(optionValue({ type: 'string' }, '512'), '512')
  assert.equal(optionValue({ type: 'integer' }, ''), undefined)
  const numbers = { type: 'array', items: { type: 'number' } }
  assert.deepEqual(listValue(numbers, '1, 2.5,, 3 '), [1, 2.5, 3])
  assert.deepEqual(listValue(numbers, '1, two'), [1, 'two'], 'the service says what is wrong with it')
  assert.deepEqual(listValue({ type: 'array', items: { type: 'string' } }, 'red, nir'), ['red', 'nir'])
  assert.equal(listValue(numbers, ' , '), undefined)
})

// Goal: a field of JSON holds any value and gives it back; a text that is not JSON yet is neither lost nor taken for a value.
test('JSON values survive the field', () => {
  // A string is shown without quotes, so that only other values come back as they were.
  const value = fc.jsonValue().filter((json) => typeof json !== 'string')
  fc.assert(fc.property(value, (json) => assert.deepEqual(jsonValue(jsonText(json)), JSON.parse(JSON.stringify(json)))))
  assert.equal(jsonText(undefined), '')
  assert.equal(jsonValue('  '), undefined)
})

test('a text that is not JSON stands for itself', () => {
  assert.equal(jsonValue('{"a":'), '{"a":')
  assert.equal(isJsonText('{"a":'), false)
  assert.equal(isJsonText('7'), false)
  assert.equal(isJsonText('null'), false)
  for (const text of ['', '{}', '[1]', ' {"a": 1} ']) assert.equal(isJsonText(text), true, text)
})

test('example values use items that exist: chosen ones stay, and without any the fields stay empty', () => {
  const area = { type: 'Point', coordinates: [1, 2] }
  const items = [
    { id: 'newest', geometry: area },
    { id: 'older', geometry: null },
  ]
  const example = { item_id: 'gone', item_ids: ['gone', 'gone too'], geometry: { type: 'Polygon' }, expression: 'b1' }
  assert.deepEqual(exampleFor(example, {}, items), {
    item_id: 'newest',
    item_ids: ['older', 'newest'],
    geometry: area,
    expression: 'b1',
  })
  assert.deepEqual(exampleFor(example, { item_id: 'chosen' }, items)['item_id'], 'chosen')
  assert.deepEqual(exampleFor(example, {}, []), { geometry: { type: 'Polygon' }, expression: 'b1' })
})
