import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

const feature = (id: string, more: object = {}) => ({
  type: 'Feature',
  stac_version: '1.0.0',
  id,
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [10, 50],
        [11, 50],
        [11, 51],
        [10, 51],
        [10, 50],
      ],
    ],
  },
  bbox: [10, 50, 11, 51],
  properties: { datetime: '2026-02-01T00:00:00Z', title: `Scene ${id}`, 'eo:cloud_cover': 12.5, gsd: 10, platform: 's2' },
  assets: {
    visual: {
      href: `https://data.example/${id}.tif`,
      type: 'image/tiff',
      roles: ['data'],
      'file:size': 123,
      'eo:bands': [{ name: 'red' }, { name: 'nir' }],
    },
  },
  links: [],
  ...more,
})
const ndjson = (...features: unknown[]) =>
  features.map((feature) => (typeof feature === 'string' ? feature : JSON.stringify(feature))).join('\n')

// Goal: external items are registered in bulk, once, each with lineage and an event; rejected ones are listed with the reason.
test('items.import_stac', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { owner, projectId: project_id } = org
  const editor = await w.member(org, 'editor')
  const viewer = await w.member(org, 'viewer')
  const load = (input: object, token = editor.token) => w.call(token, 'items.import_stac', { project_id, ...input })
  const totals = async () => ({
    items: (await w.ok(viewer.token, 'projects.get', { project_id })).item_count,
    rows: (await w.db.selectFrom('item').select('seq').execute()).length,
    events: (await w.db.selectFrom('event').select('seq').where('type', '=', 'item.created').execute()).length,
    nodes: (await w.db.selectFrom('lineage_node').select('seq').where('entity_type', '=', 'item').execute()).length,
  })

  await t.test('a FeatureCollection becomes items that can be read and found', async () => {
    const collection = await w.ok(editor.token, 'collections.create', { project_id, name: 'c' })
    const { status, body } = await load({
      collection_id: collection.id,
      features: { type: 'FeatureCollection', features: [feature('S2/a b'), feature('S2-b')] },
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body, { created: 2, skipped: 0, errors: [] })
    const { item } = await w.ok(viewer.token, 'items.get', { item_id: 'S2/a b' })
    assert.deepEqual(
      [item.stac_id, item.name, item.type, item.cloud_cover, item.gsd, item.properties, item.collection_id, item.bbox],
      ['S2/a b', 'Scene S2/a b', 'external_reference', 12.5, 10, { platform: 's2' }, collection.id, [10, 50, 11, 51]],
    )
    const [asset] = await w.ok(viewer.token, 'items.list_assets', { item_id: 'S2/a b' })
    assert.deepEqual(
      [asset.key, asset.href, asset.file_size_bytes, asset.band_names],
      ['visual', 'https://data.example/S2/a b.tif', 123, ['red', 'nir']],
    )
    const page = await w.ok(viewer.token, 'items.search', { project_id, bbox: [10.5, 50.5, 10.6, 50.6], format: 'stac' })
    assert.deepEqual(
      page.features.map((feature: { id: string }) => feature.id),
      ['S2/a b', 'S2-b'],
    )
    assert.deepEqual(page.features[0].properties['eo:cloud_cover'], 12.5)
    assert.deepEqual(await totals(), { items: 2, rows: 2, events: 2, nodes: 2 })
    const graph = await w.ok(owner.token, 'provenance.get', { entity_type: 'item', entity_id: 'S2-b' })
    assert.deepEqual(
      graph.edges.map((edge: { relation: string; dst_id: string }) => [edge.relation, edge.dst_id]),
      [['created_in', project_id]],
    )
    assert.equal((await w.ok(viewer.token, 'projects.get', { project_id })).storage_bytes, 0, 'files by reference take no storage')
  })

  await t.test('a second import changes nothing', async () => {
    const before = await totals()
    assert.deepEqual((await load({ ndjson: ndjson(feature('S2/a b'), feature('S2-b')) })).body, { created: 0, skipped: 2, errors: [] })
    assert.deepEqual(await totals(), before)
    assert.deepEqual((await load({ ndjson: ndjson(feature('S2-b'), feature('S2-c')) })).body, { created: 1, skipped: 1, errors: [] })
  })

  await t.test('rejected items are listed; the rest is registered', async () => {
    const before = await totals()
    const bad = [
      '{"type":"Feature"',
      { ...feature('no-type'), type: 'Thing' },
      { ...feature('x'), id: 7 },
      feature('bad-geometry', {
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 1],
              [0, 0],
            ],
          ],
        },
      }),
      feature('bad-bbox', { bbox: [0, 0, 1, 1] }),
      feature('bad-time', { properties: { datetime: 'yesterday' } }),
      feature('bad-href', { assets: { data: { href: 's3://bucket/a.tif' } } }),
      feature('z'.repeat(257)),
      '{"type":"Feature","id":"proto","properties":{"__proto__":{"polluted":1}}}',
      '{"type":"Feature","id":"nul","properties":{"a":"\\u0000"}}',
      '[]',
      'null',
      feature('good'),
    ]
    const { status, body } = await load({ ndjson: ndjson(...bad, feature('good')) })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.created, 1)
    assert.deepEqual(
      body.errors.map((error: { index: number }) => error.index),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13],
    )
    const reasons = body.errors.map((error: { id: string | null; message: string }) => `${error.id?.slice(0, 12)}: ${error.message}`)
    for (const [i, reason] of [
      /null|undefined.*not valid JSON/,
      /must be 'Feature'/,
      /id: must be a string/,
      /at least 4/,
      /does not match the geometry/,
      /RFC 3339/,
      /https/,
      /256/,
      /__proto__/,
      /U\+0000/,
      /must be an object/,
      /must be an object/,
      /appears twice/,
    ].entries())
      assert.match(reasons[i], reason)
    assert.deepEqual(await totals(), { items: before.items + 1, rows: before.rows + 1, events: before.events + 1, nodes: before.nodes + 1 })
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })

  await t.test('ids of another project, deleted ids, and ids of another organization', async () => {
    const other = await w.ok(owner.token, 'projects.create', { name: 'Other' })
    const response = await w.ok(owner.token, 'items.import_stac', { project_id: other.id, ndjson: ndjson(feature('S2-b')) })
    assert.deepEqual(response, {
      created: 0,
      skipped: 0,
      errors: [{ index: 0, id: 'S2-b', message: 'exists in another project of the organization' }],
    })
    await w.ok(editor.token, 'items.delete', { item_id: 'S2-c' })
    assert.match((await load({ ndjson: ndjson(feature('S2-c')) })).body.errors[0].message, /was deleted/)
    const org2 = await w.organization('Second')
    assert.equal(
      (await w.ok(org2.owner.token, 'items.import_stac', { project_id: org2.projectId, ndjson: ndjson(feature('S2-b')) })).created,
      1,
    )
    assert.equal((await w.ok(org2.owner.token, 'items.get', { item_id: 'S2-b' })).item.project_id, org2.projectId)
    assert.equal((await w.ok(owner.token, 'items.get', { item_id: 'S2-b' })).item.project_id, project_id)
    assert.equal((await load({ ndjson: ndjson(feature('q')) }, org2.owner.token)).status, 404)
  })

  await t.test('two concurrent imports of the same IDs: each ID once', async () => {
    const before = await totals()
    const features = Array.from({ length: 300 }, (_, i) => feature(`race-${i}`))
    const responses = await Promise.all([load({ ndjson: ndjson(...features) }), load({ ndjson: ndjson(...features.toReversed()) })])
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200],
    )
    assert.equal(
      responses.reduce((sum, { body }) => sum + body.created, 0),
      300,
    )
    assert.equal((await totals()).items, before.items + 300)
    const elsewhere = await w.ok(owner.token, 'projects.create', { name: 'Elsewhere' })
    for (let round = 0; round < 4; round++) {
      const crossing = Array.from({ length: 300 }, (_, i) => feature(`crossing-${round}-${i}`))
      const both = await Promise.all([
        load({ ndjson: ndjson(...crossing) }),
        load({ ndjson: ndjson(...crossing.toReversed()), project_id: elsewhere.id }, owner.token),
      ])
      assert.deepEqual(
        both.map(({ status }) => status),
        [200, 200],
        'into two projects, in opposite order',
      )
      assert.deepEqual(
        both.map(({ body }) => body.created + body.errors.length),
        [300, 300],
      )
    }
  })

  await t.test('rejections', async () => {
    assert.equal((await load({})).status, 400)
    assert.equal((await load({ ndjson: 'x', features: {} })).status, 400)
    assert.equal((await load({ features: { type: 'Feature' } })).status, 400)
    assert.equal((await load({ ndjson: '{}\n'.repeat(20_001) })).status, 400)
    assert.equal((await load({ ndjson: ndjson(feature('v')) }, viewer.token)).status, 403)
    assert.equal((await load({ collection_id: 'x', ndjson: '{}' })).status, 404)
    await w.ok(owner.token, 'projects.archive', { project_id })
    assert.equal((await load({ ndjson: ndjson(feature('v')) })).status, 400)
  })
})
