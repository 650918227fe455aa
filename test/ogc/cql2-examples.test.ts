/** The 120 example filters of the CQL2 standard as text and 109 as JSON, each with the items that it finds or the reason of its refusal. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { world, type Answer } from '../support/world.ts'

interface Example {
  name: string
  text: string
  json?: unknown
  /** Ids in alphabetical order, the long one as `d`. */
  finds?: string
  refused?: string
}

const { items, examples } = JSON.parse(readFileSync(new URL('cql2-examples.json', import.meta.url), 'utf8')) as {
  items: Record<string, object>
  examples: Example[]
}
const TEXTS = 120
const JSONS = 109
const LONG_ID = 'fa7e1920-9107-422d-a3db-c468cbc5d6df'

const idsIn = ({ status, body }: Answer): string =>
  status === 200
    ? body.features
        .map(({ id }: { id: string }) => (id === LONG_ID ? 'd' : id))
        .toSorted()
        .join('')
    : `${status} ${body.detail}`

// Goal: every example filter of the standard finds exactly the items it should, or is refused by the name of what is not supported.
test('the example filters of the CQL2 standard', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const headers = { authorization: `Bearer ${token}` }
  for (const [name, item] of Object.entries(items))
    await w.ok(token, 'items.create', {
      project_id: org.projectId,
      type: 'clip',
      name,
      stac_id: name,
      datetime: '2026-02-01T00:00:00Z',
      ...item,
    })
  for (const kind of ['text', 'json'] as const) {
    const given = examples.filter((example) => example[kind] !== undefined)
    const counts = { correct: 0, refused: 0 }
    for (const example of given) {
      const answer = await w.post('/stac/search', { 'filter-lang': `cql2-${kind}`, filter: example[kind], limit: 100 }, headers)
      const about = `${example.name} as ${kind}: ${example.text}`
      if (example.refused === undefined) assert.equal(idsIn(answer), example.finds, about)
      else {
        assert.equal(answer.status, 400, about)
        assert.ok(answer.body.detail.toLowerCase().includes(example.refused.toLowerCase()), `${about}: ${answer.body.detail}`)
      }
      counts[example.refused === undefined ? 'correct' : 'refused']++
    }
    t.diagnostic(`${kind}: ${counts.correct} correct, ${counts.refused} refused with a reason, ${given.length} altogether`)
    assert.deepEqual([given.length, counts.correct + counts.refused], kind === 'text' ? [TEXTS, TEXTS] : [JSONS, JSONS])
  }
})

// Goal: relations of geometries hold in NOT, AND and OR, and an area that touches too many items to compare is refused with the reason.
test('relations of geometries in searches', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const headers = { authorization: `Bearer ${token}` }
  const box = (west: number, south: number, east: number, north: number) => ({
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  })
  const shapes = { a: box(0, 0, 2, 2), b: box(1, 1, 3, 3), c: box(2, 0, 4, 2), d: { type: 'Point', coordinates: [1, 1] }, e: null }
  for (const [name, geometry] of Object.entries(shapes))
    await w.ok(token, 'items.create', { project_id: org.projectId, type: 'clip', name, stac_id: name, geometry })
  const search = async (filter: string) => idsIn(await w.post('/stac/search', { 'filter-lang': 'cql2-text', filter }, headers))
  const AREA = 'POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))'
  const cases: [string, string][] = [
    [`S_EQUALS(geometry, ${AREA})`, 'a'],
    [`S_WITHIN(geometry, ${AREA})`, 'ad'],
    [`S_CONTAINS(${AREA}, geometry)`, 'ad'],
    [`NOT S_WITHIN(geometry, ${AREA})`, 'bc'],
    [`S_OVERLAPS(geometry, ${AREA})`, 'b'],
    [`S_TOUCHES(geometry, ${AREA})`, 'c'],
    [`S_TOUCHES(geometry, ${AREA}) OR S_OVERLAPS(geometry, ${AREA})`, 'bc'],
    [`S_WITHIN(geometry, ${AREA}) AND NOT S_EQUALS(geometry, ${AREA})`, 'd'],
    ['S_CROSSES(geometry, LINESTRING(-1 1, 1.5 1))', 'a'],
    ['S_CONTAINS(geometry, POINT(1 1))', 'ad'],
    [`S_DISJOINT(geometry, POINT(3 1))`, 'ad'],
    ['S_WITHIN(geometry, POLYGON((5 5, 6 5, 6 6, 5 6, 5 5)))', ''],
  ]
  for (const [filter, ids] of cases) assert.equal(await search(filter), ids, filter)
  const line = (n: number) =>
    JSON.stringify({
      type: 'Feature',
      stac_version: '1.0.0',
      id: `copy-${n}`,
      geometry: shapes.d,
      bbox: [1, 1, 1, 1],
      properties: { datetime: '2026-02-01T00:00:00Z' },
      assets: {},
      links: [],
    })
  for (let from = 0; from < 5_000; from += 1_000)
    await w.ok(token, 'items.import_stac', {
      project_id: org.projectId,
      ndjson: Array.from({ length: 1_000 }, (_, n) => line(from + n)).join('\n'),
    })
  assert.match(await search(`S_WITHIN(geometry, ${AREA})`), /^400 The geometry of 's_within' touches more than 5000 items/)
})
