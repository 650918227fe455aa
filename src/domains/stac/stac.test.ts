import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { campaign } from '../../../test/support/campaign.ts'
import { world } from '../../../test/support/world.ts'

const square = (west: number, south: number, size = 1) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [west + size, south],
      [west + size, south + size],
      [west, south + size],
      [west, south],
    ],
  ],
})

const feature = (id: string, more: { geometry?: unknown; properties?: object; assets?: object } = {}) => ({
  type: 'Feature',
  stac_version: '1.0.0',
  id,
  geometry: more.geometry === undefined ? square(10, 10) : more.geometry,
  properties: { datetime: '2026-01-01T00:00:00Z', ...more.properties },
  assets: more.assets ?? {},
})

// Goal: stac.search filters by its specified fields, responds in the specified shape, and rejects unsupported input.
test('stac.search', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { id: collectionId } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Scenes' })
  await w.ok(org.owner.token, 'items.import_stac', {
    project_id: org.projectId,
    collection_id: collectionId,
    features: {
      type: 'FeatureCollection',
      features: [
        feature('a', {
          properties: { platform: 's2', 'eo:cloud_cover': 5, count: 1 },
          assets: { data: { href: 'https://data.example/a.tif' } },
        }),
        feature('b', { geometry: square(20, 20), properties: { platform: 's1', datetime: '2026-02-01T00:00:00Z', count: 2 } }),
        feature('c', {
          geometry: { type: 'Point', coordinates: [10.5, 10.5] },
          properties: { datetime: '2026-03-01T00:00:00Z', count: '3' },
        }),
      ],
    },
  })
  await w.ok(org.owner.token, 'items.create', { project_id: org.projectId, type: 'user_raster', name: 'No place', stac_id: 'd' })
  const search = (input: object) => w.call(org.owner.token, 'stac.search', input)
  const ids = async (input: object): Promise<string[]> => {
    const { status, body } = await search(input)
    assert.equal(status, 200, JSON.stringify(body))
    return body.features.map(({ id }: { id: string }) => id).toSorted()
  }

  await t.test('returns lightweight features and a context', async () => {
    const { body, headers } = await search({ limit: 2, page: 1, sortby: [{ field: 'id', direction: 'asc' }] })
    assert.equal(headers.get('content-type'), 'application/geo+json')
    assert.deepEqual(body.context, { limit: 2, returned: 2, matched: 4, page: 1, pages: 2 })
    const [c] = body.features
    assert.equal(c.id, 'c')
    assert.deepEqual(c.assets, {})
    assert.deepEqual(
      c.links.map(({ rel }: { rel: string }) => rel),
      ['self'],
    )
    assert.ok(!('next' in body))
    const around = async (page: number) => {
      const { links } = await w.ok(org.owner.token, 'stac.search', { limit: 2, page })
      return links.slice(2).map(({ rel, method, body: sent, merge }: Record<string, unknown>) => ({ rel, method, sent, merge }))
    }
    assert.deepEqual(await around(0), [{ rel: 'next', method: 'POST', sent: { page: 1 }, merge: true }])
    assert.deepEqual(await around(1), [{ rel: 'prev', method: 'POST', sent: { page: 0 }, merge: true }])
  })

  await t.test('each field narrows the search', async () => {
    const cases: [object, string[]][] = [
      [{ collections: [collectionId] }, ['a', 'b', 'c']],
      [{ collections: ['none of ours'] }, []],
      [{ ids: ['a', 'd', 'x'] }, ['a', 'd']],
      [{ bbox: [9, 9, 10.2, 10.2] }, ['a']],
      [{ intersects: square(10.4, 10.4, 0.2) }, ['a', 'c']],
      [
        {
          intersects: {
            type: 'Polygon',
            coordinates: [
              [
                [9, 9],
                [30, 9],
                [9, 30],
                [9, 9],
              ],
            ],
          },
        },
        ['a', 'c'],
      ],
      [{ datetime: '2026-02-01T00:00:00Z/..' }, ['b', 'c', 'd']],
      [{ query: { platform: { eq: 's1' } } }, ['b']],
      [{ filter: { op: '=', args: [{ property: 'platform' }, 's2'] } }, ['a']],
      [{ filter: { op: 's_intersects', args: [{ property: 'geometry' }, { type: 'Point', coordinates: [20.5, 20.5] }] } }, ['b']],
      [{ filter: { op: 't_intersects', args: [{ property: 'datetime' }, { interval: ['2026-01-15', '..'] }] } }, ['b', 'c', 'd']],
      [{ filter: { op: 'like', args: [{ property: 'platform' }, 's%'] } }, ['a', 'b']],
      [{ filter: { op: 'in', args: [{ property: 'id' }, ['a', 'b']] } }, ['a', 'b']],
      [{ filter: { op: 'isNull', args: [{ property: 'platform' }] } }, ['c', 'd']],
      [{ filter: { op: 'not', args: [{ op: '=', args: [{ property: 'platform' }, 's2'] }] } }, ['b']],
      [{ filter: { op: '>=', args: [{ property: 'count' }, 1] } }, ['a', 'b']],
      [
        { filter: { op: 'between', args: [{ property: 'datetime' }, { timestamp: '2026-01-15T00:00:00Z' }, { date: '2026-02-15' }] } },
        ['b'],
      ],
      [{ filter: { op: '=', args: [{ property: 'collection' }, collectionId] } }, ['a', 'b', 'c']],
      [{ filter: { op: '=', args: [{ property: 'svc:source' }, 'TASKING'] } }, ['a', 'b', 'c', 'd']],
    ]
    for (const [input, expected] of cases) assert.deepEqual(await ids(input), expected, JSON.stringify(input))
  })

  await t.test('invalid input is rejected with the reason', async () => {
    const ring = Array.from({ length: 1_000 }, (_, i) => [Math.cos((i / 1_000) * 6), Math.sin((i / 1_000) * 6)])
    const cases: [object, number][] = [
      [{ bbox: [0, 0, 1, 1], intersects: square(0, 0) }, 400],
      [{ bbox: [0, 0, 1] }, 422],
      [{ intersects: { type: 'Point', coordinates: [0, 0] } }, 422],
      [{ intersects: { type: 'Polygon', coordinates: [[...ring, ring[0]]] } }, 422],
      [{ filter: { op: '=', args: [{ property: 'platform' }, 'x'] }, 'filter-lang': 'cql2-text' }, 400],
      [{ 'filter-lang': 'cql2-text' }, 200],
      [{ filter: { op: 'avg', args: [{ property: 'platform' }] } }, 400],
      [{ filter: { op: '=', args: [{ property: 'no_such_property' }, 1] } }, 400],
      [{ filter: { op: '=', args: [{ property: 'platform' }] } }, 422],
      [{ filter: { op: '=', args: [{ property: 'eo:cloud_cover' }, 'many'] } }, 400],
      [{ sortby: [{ field: 'platform' }] }, 400],
      [{ limit: 0 }, 422],
      [{ limit: 10_001 }, 422],
      [{ limit: 10_000 }, 200],
      [{ page: -1 }, 422],
      [{ limit: 10_000, page: 100 }, 400],
      [{ next: 'forged' }, 422],
      [{ filter: { op: 'or', args: Array.from({ length: 60 }, () => ({ op: '=', args: [{ property: 'id' }, 'a'] })) } }, 422],
    ]
    for (const [input, status] of cases) assert.equal((await search(input)).status, status, JSON.stringify(input).slice(0, 120))
  })

  await t.test('an organization without projects has no items; a user without an organization cannot search', async () => {
    const loner = await w.person()
    assert.equal((await w.call(loner.token, 'stac.search')).status, 403)
    assert.equal((await w.call(loner.token, 'stac.collections.list')).status, 403)
    const founder = await w.person()
    const { id } = await w.ok(founder.token, 'organizations.create', { name: 'Empty' })
    const owner = await w.signIn(founder, id)
    assert.deepEqual((await w.ok(owner.token, 'stac.search')).context, { limit: 10, returned: 0, matched: 0, page: 0, pages: 0 })
    assert.deepEqual((await w.ok(owner.token, 'stac.collections.list')).collections, [])
  })

  await t.test('collections are minimal', async () => {
    const { collections } = await w.ok(org.owner.token, 'stac.collections.list', { base_url: 'https://maps.example/' })
    assert.equal(collections.length, 1)
    const [{ links, ...rest }] = collections
    assert.deepEqual(rest, {
      type: 'Collection',
      stac_version: '1.0.0',
      stac_extensions: [],
      id: collectionId,
      title: 'Scenes',
      description: 'Scenes',
      license: 'proprietary',
      extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    })
    assert.deepEqual(
      links.map(({ rel, href }: { rel: string; href: string }) => [rel, href]),
      [
        ['self', `https://maps.example/stac/collections/${collectionId}`],
        ['root', 'https://maps.example/stac'],
        ['parent', 'https://maps.example/stac'],
        ['items', `https://maps.example/stac/collections/${collectionId}/items`],
      ],
    )
  })

  await t.test('hostile filters are values like any other', async () => {
    const hostile = ["'; drop table item; --", '$1', '\\', '%', '__proto__', "a' or '1'='1", 'properties"->"x', '{}', 'i.id', '\u0000x']
    const text = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'binary', maxLength: 40 }))
    const operator = fc.oneof(fc.constantFrom('=', '<>', '<', 'like', 'in', 'isNull', 'between', 'and', 'not', 's_intersects'), text)
    const leaf = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null), fc.record({ property: text }), fc.record({ timestamp: text }))
    const node = fc.record({ op: operator, args: fc.array(fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })), { maxLength: 4 }) })
    await fc.assert(
      fc.asyncProperty(node, text, async (filter, field) => {
        for (const input of [{ filter }, { sortby: [{ field }] }, { query: { [field]: { eq: field } } }, { next: field }]) {
          const { status } = await search(input)
          assert.ok([200, 400, 422].includes(status), `${status} for ${JSON.stringify(input)}`)
        }
      }),
      { numRuns: campaign({ short: 40, long: 1_000 }) },
    )
    assert.deepEqual(await ids({}), ['a', 'b', 'c', 'd'])
  })
})
