import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { campaign } from '../../../test/support/campaign.ts'
import { world } from '../../../test/support/world.ts'

interface Shown {
  id: string
  properties: Record<string, unknown>
}

const TIMES = ['created', 'updated'] as const
const TEXTS = ['title', 'name'] as const
type Field = (typeof TIMES)[number] | (typeof TEXTS)[number]

const day = fc.integer({ min: 0, max: 6 })
/** Timestamps as catalogues write them, and invalid ones. */
const stated = fc.oneof(
  { weight: 6, arbitrary: day.map((n) => `2024-02-0${n + 1}T00:00:00Z`) },
  day.map((n) => `2024-02-0${n + 1}T10:00:00.123456+10:00`),
  day.map((n) => `2024-02-0${n + 1}t00:00:00.9999999z`),
  fc.constantFrom('2024-02-30T00:00:00Z', '2024-02-01', '2024-02-01T00:00:00', 'yesterday', 'infinity', '', 20240201, true, null),
)
const word = fc.constantFrom('a', 'B', 'ab', 'é', 'Z', '𝄞', '100%')
const properties = fc.record(
  { created: stated, updated: stated, title: word, name: fc.oneof({ weight: 4, arbitrary: word }, fc.constantFrom(7, false, null)) },
  { requiredKeys: [] },
)

/** Item names are returned as `svc:name`, in addition to a property `name` of the item. */
const shownOf = ({ properties: shown }: Shown, field: Field): string =>
  String(field === 'name' ? (shown['name'] ?? shown['svc:name']) : shown[field])
const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

const OPERATORS: Record<string, [cql2: string, (order: number) => boolean]> = {
  eq: ['=', (order) => order === 0],
  neq: ['<>', (order) => order !== 0],
  lt: ['<', (order) => order < 0],
  lte: ['<=', (order) => order <= 0],
  gt: ['>', (order) => order > 0],
  gte: ['>=', (order) => order >= 0],
}

// Goal: items are filtered and sorted by the values that are returned, whatever an import or update has set.
test('title, name, created and updated are searched by their returned values', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const samples = fc.sample(properties, { numRuns: 80, seed: 24 })
  const feature = (own: object, index: number) => ({
    type: 'Feature',
    id: `scene-${index}`,
    geometry: null,
    properties: { datetime: '2024-01-01T00:00:00Z', ...own },
    assets: {},
  })
  const { created } = await w.ok(token, 'items.import_stac', {
    project_id: org.projectId,
    ndjson: samples.map((own, index) => JSON.stringify(feature(own, index))).join('\n'),
  })
  assert.equal(created, samples.length)
  w.clock.advance({ minutes: 1 })
  const own = { title: 'Property', created: '2024-02-03T00:00:00Z' }
  await w.ok(token, 'items.create', { project_id: org.projectId, type: 'external_reference', name: 'Created', properties: own })
  await w.ok(token, 'items.update', { item_id: 'scene-1', properties: { ...own, name: 'zz', updated: '2024-02-04T00:00:00Z' } })
  await w.ok(token, 'items.update', { item_id: 'scene-2', name: 'Renamed', properties: {} })

  const searches: Record<string, (search: object) => Promise<Shown[]>> = {
    'stac.search': async (search) => (await w.ok(token, 'stac.search', { limit: 1_000, ...search })).features,
    'items.search': async (search) => (await w.ok(token, 'items.search', { project_id: org.projectId, limit: 1_000, ...search })).features,
    'items.search_org': async (search) => (await w.ok(token, 'items.search_org', { limit: 1_000, ...search })).features,
  }
  const all = await searches['stac.search']!({})
  assert.equal(all.length, samples.length + 1)
  const byId = (features: readonly Shown[]) => features.map(({ id }) => id).toSorted()

  await t.test('imported timestamps are returned; invalid ones are ignored', () => {
    for (const { id, properties: shown } of all)
      for (const field of TIMES) {
        assert.match(String(shown[field]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, `${id} ${field}`)
        const sample = samples[Number(id.slice(6))]?.[field]
        if (id === 'scene-1' || id === 'scene-2' || typeof sample !== 'string' || !/^2024-02-0\d[Tt].*(Z|z|\+10:00)$/.test(sample)) continue
        assert.equal(shown[field], new Date(sample.toUpperCase()).toISOString(), `${id} ${field}`)
      }
  })

  const field = fc.constantFrom<Field>(...TIMES, ...TEXTS)
  const search = fc.constantFrom(...Object.keys(searches))

  await t.test('in any order', async () => {
    await fc.assert(
      fc.asyncProperty(search, field, fc.constantFrom('asc', 'desc'), fc.boolean(), async (name, by, direction, isPrefixed) => {
        const features = await searches[name]!({ sortby: [{ field: isPrefixed ? `properties.${by}` : by, direction }] })
        const values = features.map((each) => shownOf(each, by))
        assert.deepEqual(values, direction === 'asc' ? values.toSorted(compare) : values.toSorted((a, b) => compare(b, a)), `${name} ${by}`)
        assert.deepEqual(byId(features), byId(all))
      }),
      { numRuns: campaign({ short: 40, long: 200 }) },
    )
  })

  await t.test('page by page', async () => {
    for (const by of [...TIMES, ...TEXTS]) {
      const sortby = [{ field: by, direction: 'desc' }]
      const seen: Shown[] = []
      let next: string | undefined
      do {
        const page = await w.ok(token, 'stac.search', { sortby, limit: 7, ...(next ? { next } : {}) })
        seen.push(...page.features)
        next = page.next
      } while (next)
      assert.deepEqual(seen, await searches['stac.search']!({ sortby }), by)
    }
  })

  await t.test('by any filter', async () => {
    const some = fc.constantFrom(...all)
    await fc.assert(
      fc.asyncProperty(
        search,
        field,
        fc.constantFrom(...Object.keys(OPERATORS)),
        some,
        fc.boolean(),
        async (name, by, operator, item, isCql2) => {
          const value = shownOf(item, by)
          const [cql2, holds] = OPERATORS[operator]!
          const isTime = TIMES.some((each) => each === by)
          const filter = { op: cql2, args: [{ property: by }, isTime ? { timestamp: value } : value] }
          const features = isCql2
            ? await searches['stac.search']!({ filter })
            : await searches[name]!({ query: { [by]: { [operator]: value } } })
          const expected = all.filter((each) => holds(compare(shownOf(each, by), value)))
          assert.deepEqual(byId(features), byId(expected), `${by} ${operator} ${value}`)
        },
      ),
      { numRuns: campaign({ short: 100, long: 1_000 }) },
    )
  })

  await t.test('an item record keeps the times of the platform', async () => {
    const { item } = await w.ok(token, 'items.get', { item_id: 'scene-1' })
    assert.equal(item.updated_at, w.clock.now().toISOString())
    const features = await searches['items.search']!({ query: { updated_at: { gte: item.updated_at }, stac_id: { startsWith: 'scene-' } } })
    assert.deepEqual(byId(features), ['scene-1', 'scene-2'])
  })
})
