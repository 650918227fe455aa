import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileHost } from '../../../test/support/ranges.ts'
import { scene } from '../../../test/support/scene.ts'
import { world } from '../../../test/support/world.ts'

// Goal: a mosaic is registered by URL, its three layers of provenance read back as STAC, and a lookup is inline or a separate
// asset, never both; invalid mosaics are rejected and leave nothing behind.
test('mosaic.register', async (t) => {
  const files = await fileHost(t)
  files.put('m.tif', await scene({ dataType: 'float32' }))
  const w = await world(t, { egressAllow: ['data.example', files.host] })
  const org = await w.organization()
  const { id: sourceId } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Sources' })
  const lookup = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ value: i + 1, scene_id: `S2/${i}`, collection: 'sentinel-2' }))
  const input = (more: object = {}) => ({
    project_id: org.projectId,
    name: 'Reef',
    mosaic_method: 'median',
    bbox: [10, 10, 12, 12],
    start_datetime: '2026-01-01T00:00:00Z',
    end_datetime: '2026-02-01T00:00:00Z',
    source_collections: [sourceId, 'sentinel-2'],
    data_asset: { href: 'https://data.example/m.tif', band_count: 3 },
    ...more,
  })
  const provenance_asset = { href: 'https://data.example/p.tif' }
  const source_lookup_asset = { href: 'https://data.example/l.json' }
  const register = (more: object, headers = {}) => w.call(org.owner.token, 'mosaic.register', input(more), headers)
  const stacOf = (id: string) => w.ok(org.owner.token, 'items.get_stac', { item_id: id })
  const extensions = (stac: { stac_extensions: string[] }) =>
    stac.stac_extensions.map((uri) => /(\w+)\/v[\d.]+\/schema/.exec(uri)![1]).toSorted()

  await t.test('the data type is read from the raster unless it is given', async () => {
    const data_asset = { href: files.url('m.tif'), band_count: 4 }
    const { body } = await register({ data_asset })
    assert.equal((await stacOf(body.item.id)).properties['svc:data_type'], 'float32')
    const { body: typed } = await register({ data_asset, data_type: 'uint8' })
    assert.equal((await stacOf(typed.item.id)).properties['svc:data_type'], 'uint8')
  })

  await t.test('a plain mosaic has a summary and its own collection', async () => {
    const { status, body } = await register({})
    assert.equal(status, 200, JSON.stringify(body))
    const stac = await stacOf(body.item.id)
    assert.deepEqual(extensions(stac), ['processing', 'svc'])
    assert.equal(stac.properties['svc:item_type'], 'mosaic')
    assert.equal(stac.properties['svc:mosaic_name'], 'Reef')
    assert.equal(stac.properties['svc:mosaic_method'], 'median')
    assert.equal(stac.properties['svc:data_type'], null, 'the file cannot be read')
    assert.deepEqual(stac.properties['svc:source_collections'], [sourceId, 'sentinel-2'])
    assert.deepEqual(stac.properties['band_roles'], { RED: 1, GREEN: 2, BLUE: 3 })
    assert.equal(stac.properties.datetime, null)
    assert.equal(stac.properties.start_datetime, '2026-01-01T00:00:00.000Z')
    assert.deepEqual(
      stac.links.map(({ rel, title }: { rel: string; title: string }) => [rel, title]),
      [
        ['derived_from', sourceId],
        ['derived_from', 'sentinel-2'],
      ],
    )
    const collections = await w.ok(org.owner.token, 'collections.list', { project_id: org.projectId })
    assert.ok(collections.some(({ id, name }: { id: string; name: string }) => id === body.item.collection_id && name === 'Mosaics'))
    const { edges } = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'item', entity_id: body.item.id, direction: 'up' })
    assert.deepEqual(
      edges
        .filter(({ depth }: { depth: number }) => depth === 1)
        .map(({ relation, dst_type }: { relation: string; dst_type: string }) => `${relation} ${dst_type}`)
        .toSorted(),
      ['created_in project', 'derived_from collection'],
    )
  })

  await t.test('256 scenes are inline, 257 are a separate asset', async () => {
    const few = await stacOf((await register({ provenance_asset, source_lookup: lookup(256) })).body.item.id)
    assert.equal(few.assets.provenance['classification:classes'].length, 256)
    assert.equal(few.properties['svc:source_scene_count'], 256)
    assert.deepEqual(few.assets.provenance['classification:classes'][0], { value: 1, name: 'S2_0', description: 'sentinel-2/S2/0' })
    assert.deepEqual(few.assets.provenance.roles, ['data', 'provenance'])
    assert.deepEqual(extensions(few), ['classification', 'processing', 'raster', 'svc'])
    assert.ok(!('source_lookup' in few.assets))
    const manifest = { source_manifest_asset: { href: 'https://data.example/s.parquet' } }
    const many = await stacOf(
      (await register({ provenance_asset, source_lookup: lookup(257), source_lookup_asset, ...manifest })).body.item.id,
    )
    assert.ok(!('classification:classes' in many.assets.provenance))
    assert.equal(many.assets.source_lookup.href, source_lookup_asset.href)
    assert.equal(many.properties['svc:source_scene_count'], 257)
    assert.deepEqual(extensions(many), ['processing', 'raster', 'svc'])
    assert.deepEqual(many.assets.source_manifest.roles, ['metadata', 'source-manifest'])
  })

  await t.test('bands', async () => {
    const data = (band_count: number) => ({ data_asset: { href: 'https://data.example/m.tif', band_count } })
    const four = await stacOf((await register(data(4))).body.item.id)
    assert.ok(!('band_roles' in four.properties))
    const named = await stacOf((await register({ ...data(4), band_roles: { NIR: 4 } })).body.item.id)
    assert.deepEqual(named.properties.band_roles, { NIR: 4 })
  })

  await t.test('invalid mosaics are rejected and leave nothing', async () => {
    const count = async () => (await w.ok(org.owner.token, 'items.list', { project_id: org.projectId })).total
    const before = await count()
    const cases: [object, number][] = [
      [{ provenance_asset, source_lookup: lookup(257) }, 422],
      [{ provenance_asset, source_lookup: lookup(2), source_lookup_asset }, 422],
      [{ source_lookup: lookup(2) }, 422],
      [{ source_lookup_asset }, 422],
      [{ provenance_asset, source_lookup: lookup(2), source_scene_count: 3 }, 422],
      [{ provenance_asset, source_lookup: [...lookup(2), ...lookup(1)] }, 422],
      [{ band_roles: { NIR: 4 } }, 422],
      [{ data_asset: { href: 'https://elsewhere.example/m.tif', band_count: 3 } }, 422],
      [{ data_asset: { href: 'ftp://data.example/m.tif', band_count: 3 } }, 422],
      [{ bbox: [0, 0, 1] }, 422],
      [{ end_datetime: '2025-01-01T00:00:00Z' }, 422],
      [{ collection_id: org.id }, 404],
    ]
    for (const [more, status] of cases) assert.equal((await register(more)).status, status, JSON.stringify(more).slice(0, 120))
    const viewer = await w.member(org, 'viewer')
    assert.equal((await w.call(viewer.token, 'mosaic.register', input())).status, 403)
    assert.equal(await count(), before)
  })

  await t.test('registered once for an idempotency key, and concurrent calls share one Mosaics collection', async () => {
    const project = await w.ok(org.owner.token, 'projects.create', { name: 'Second' })
    const target = { project_id: project.id }
    const twice = await Promise.all([1, 2, 3, 4].map(() => register(target)))
    assert.equal(new Set(twice.map(({ body }) => body.item.collection_id)).size, 1)
    const key = { 'idempotency-key': 'mosaic-1' }
    const [first, again] = [await register(target, key), await register(target, key)]
    assert.deepEqual(again.bytes, first.bytes)
    assert.equal((await register({ ...target, name: 'Other' }, key)).status, 409)
    assert.equal((await w.ok(org.owner.token, 'items.list', { project_id: project.id })).total, 5)
  })
})
