/** Run: PEER_PYTHON=venv/bin/python npm test -- test/peers/filters.ts. The interpreter needs cql2, the bindings of cql2-rs. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

interface Facts {
  items: Record<string, { geometry: object; cloud_cover?: number; properties: Record<string, unknown> }>
  examples: { name: string; text: string; json?: unknown; finds?: string }[]
}
const { items, examples } = JSON.parse(readFileSync(new URL('../ogc/cql2-examples.json', import.meta.url), 'utf8')) as Facts

/** Where we decide otherwise, and why. */
const OTHERWISE: Readonly<Record<string, string>> = {
  clause6_02d: 'the platform has a time of change where the item states none',
  clause7_04: 'the peer does not evaluate casei inside in',
  example26: 'the peer does not evaluate casei inside in',
  example38: 'a text is neither between two numbers nor not between them',
  'example38-alt01': 'a text is neither between two numbers nor not between them',
  example40: 'a number is neither one of some texts nor none of them',
  'example40-alt01': 'a number is neither one of some texts nor none of them',
  example57: 'a day ends when it is over, not when it begins',
}

const features = Object.entries(items).map(([id, { geometry, cloud_cover: clouds, properties }]) => ({
  type: 'Feature',
  id,
  geometry,
  footprint: geometry,
  properties: {
    name: id,
    updated_at: '2026-02-01T00:00:00Z',
    ...properties,
    ...(clouds === undefined ? {} : { 'eo:cloud_cover': clouds }),
  },
}))

// Goal: what our own test expects of the example filters is what an independent evaluator finds.
test('the example filters beside cql2-rs', (t) => {
  const answered = examples.filter(({ finds }) => finds !== undefined)
  const asked = answered.flatMap(({ name, text, json, finds }) =>
    (json === undefined ? [text] : [text, json]).map((filter) => ({ name, filter, finds: finds! })),
  )
  const script = new URL('./filters.py', import.meta.url).pathname
  const { stdout, stderr, status } = spawnSync(process.env['PEER_PYTHON'] ?? 'python3', [script], {
    input: JSON.stringify({ features, filters: asked.map(({ filter }) => filter) }),
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  const matches = JSON.parse(stdout) as (string[] | null)[]
  let same = 0
  for (const [index, { name, finds }] of asked.entries()) {
    const ids = matches[index]
      ?.map((id) => (id.length > 1 ? 'd' : id))
      .toSorted()
      .join('')
    if (name in OTHERWISE) assert.notEqual(ids, finds, `${name} is the same by now`)
    else assert.equal(ids, finds, name)
    if (ids === finds) same++
  }
  t.diagnostic(`${asked.length} filters, ${same} with the same result, ${asked.length - same} decided otherwise`)
})
