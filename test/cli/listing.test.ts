// Goal: a list is shown as a table that fits the terminal, with the columns that identify a record; its text cannot control the terminal.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { listing } from '../../packages/cli/src/listing.ts'
import { json, table } from '../../packages/cli/src/terminal.ts'

const ITEM = {
  id: '01a1e1b2-e190-724f-9b9a-480a7185b443',
  name: 'Lake and fields, October',
  type: 'user_raster',
  datetime: '2025-10-12T10:40:00.000Z',
  created_at: '2026-11-16T00:12:00.000Z',
  bbox: [2.25, 48.17, 2.34, 48.22],
}

function wide(t: TestContext, columns: number): void {
  const before = process.stdout.columns
  process.stdout.columns = columns
  t.after(() => (process.stdout.columns = before))
}

const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length))

test('a list as a table', async (t) => {
  process.env['NO_COLOR'] = '1'

  await t.test('shows as much as fits the terminal', (t) => {
    wide(t, 140)
    assert.match(listing({ items: [ITEM], total: 3 })!, /^ID +NAME +TYPE +DATETIME +CREATED AT\n.*2025-10-12 10:40.*\n1 of 3; use --all/)
    wide(t, 80)
    const narrow = listing({ items: [ITEM], total: 1 })!
    assert.ok(widest(narrow) <= 80, narrow)
    assert.match(narrow, /^ID +NAME +TYPE\n01a1e1b2-e190-724f-9b9a-480a7185b443 {2}Lake and fields, October {2}user_raster\n$/)
  })

  await t.test('shows the properties of features, reports an empty list, and ignores what is not a list', () => {
    const features = [{ type: 'Feature', id: 'a', properties: { title: 'Lake', datetime: ITEM.datetime }, geometry: null }]
    assert.equal(listing({ type: 'FeatureCollection', features }), 'ID  TITLE  DATETIME\na   Lake   2025-10-12 10:40\n')
    assert.equal(listing([]), 'No results\n')
    assert.equal(listing(ITEM), null, 'a record with a list of numbers')
    assert.equal(listing({ points: [{ mean: 1 }] }), null, 'records without a name')
  })
})

test('a table', () => {
  const rows = [
    ['a-name-to-copy', 'x'.repeat(60), 5, null],
    ['b', 'red\u001B[31m', null, null],
  ] as const
  const text = table(['ID', 'TEXT', 'COUNT', 'NOTHING'], rows, 40)
  assert.ok(widest(text) <= 40, text)
  assert.match(text, /^ID +TEXT +COUNT\na-name-to-copy {2}x+… +5\nb +red \[31m +–$/)
})

test('indented JSON has positions on one line', () => {
  assert.equal(json({ at: [2.5, -48], names: ['a'] }, true), '{\n  "at": [2.5, -48],\n  "names": [\n    "a"\n  ]\n}')
  assert.equal(json({ at: [2.5, -48] }, false), '{"at":[2.5,-48]}')
  assert.deepEqual(JSON.parse(json({ text: '[\n 1,\n 2\n]' }, true)), { text: '[\n 1,\n 2\n]' })
})
