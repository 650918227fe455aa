// Goal: every STAC document that we emit keeps the schemas that it names: items of all kinds, collections and the landing page.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import runJob from '#domains/processing/run.task.ts'
import { grant, placeArchive, work } from '../orders/support.ts'
import { scene } from '../support/scene.ts'
import { world, type World } from '../support/world.ts'

const FOLDER = process.env['STAC_SCHEMAS'] ?? path.join(import.meta.dirname, '../../../shared/data/stac-schemas')
const skip = existsSync(FOLDER) ? false : 'the schemas of STAC are not on this machine'
const CORE = 'https://schemas.stacspec.org/v1.0.0'
const EXTENSIONS = 'https://stac-extensions.github.io'

/** The folder has a schema at host and path; one that it does not have is an error, never a pass. Ours is asked of the service. */
function createValidator(w: World) {
  const load = async (uri: string): Promise<object> => {
    const { host, pathname } = new URL(uri)
    if (uri.startsWith(w.baseUrl)) return (await w.request('GET', pathname)).body
    return JSON.parse(readFileSync(path.join(FOLDER, host, pathname), 'utf8')) as object
  }
  const ajv = new Ajv({ loadSchema: load, strict: false, allErrors: true, formats: { iri: true, 'iri-reference': true } })
  addFormats.default(ajv)
  const compiled = new Map<string, ValidateFunction>()
  return async (document: { id: string; stac_extensions?: string[] }, core: string): Promise<void> => {
    for (const uri of [`${CORE}/${core}`, ...(document.stac_extensions ?? [])]) {
      const check = compiled.get(uri) ?? (await ajv.compileAsync(await load(uri)))
      compiled.set(uri, check)
      assert.ok(check(document), `${document.id} breaks ${uri}: ${ajv.errorsText(check.errors?.slice(0, 3))}`)
    }
  }
}

const ring = [
  [10, 10],
  [11, 10],
  [11, 11],
  [10, 11],
  [10, 10],
]
const geometry = { type: 'Polygon', coordinates: [ring] }
const datetime = '2026-01-01T00:00:00Z'
const [start_datetime, end_datetime] = [datetime, '2026-02-01T00:00:00Z']
const data = { href: 'https://data.example/a.tif', type: 'image/tiff', roles: ['data'] }
const uri = (name: string, version: string) => `${EXTENSIONS}/${name}/${version}/schema.json`

/** What other catalogues send, in the versions of extensions that they use. */
const FEATURES: readonly object[] = [
  { geometry, properties: { datetime } },
  { geometry: null, properties: { datetime } },
  { geometry, properties: { datetime: null, start_datetime, end_datetime } },
  { geometry: { type: 'Point', coordinates: [1, 2] }, bbox: [1, 2, 0, 1, 2, 9], properties: { datetime, gsd: 0.5 } },
  { geometry, stac_extensions: [uri('eo', 'v1.0.0')], properties: { datetime, 'eo:cloud_cover': 3 }, assets: { data } },
  { geometry, stac_extensions: [uri('eo', 'v2.0.0')], properties: { datetime, 'eo:cloud_cover': 3, 'eo:snow_cover': 1 } },
  { geometry, properties: { datetime }, assets: { data: { ...data, 'eo:bands': [{ name: 'B04', common_name: 'red' }] } } },
  {
    geometry,
    stac_extensions: [uri('projection', 'v1.1.0'), uri('raster', 'v1.1.0'), uri('file', 'v2.1.0'), uri('view', 'v1.0.0')],
    properties: { datetime, 'proj:epsg': 32755, 'view:off_nadir': 3 },
    assets: { data: { ...data, 'file:size': 12, 'proj:shape': [10, 10], 'raster:bands': [{ data_type: 'uint16', nodata: 0 }] } },
  },
  {
    geometry,
    stac_extensions: [uri('projection', 'v2.0.0')],
    properties: { datetime, 'proj:code': 'EPSG:32755' },
    assets: { data: { ...data, 'proj:shape': [10, 10] } },
  },
  {
    geometry,
    stac_extensions: [uri('eo', 'v2.0.0'), uri('raster', 'v2.0.0')],
    properties: { datetime },
    assets: { data: { ...data, bands: [{ name: 'red', 'eo:common_name': 'red', data_type: 'uint8', 'raster:scale': 0.1 }] } },
  },
  { geometry, properties: { datetime, 'eo:product_type': 'ortho', 'proj:code': 'EPSG:32755', 'proj:epsg': 32755 }, assets: { data } },
  { geometry, properties: { datetime, 'eo:cloud_cover': 3, 'eo:product_type': 'ortho' } },
  { geometry, properties: { datetime, 'eo:bands': [{ name: 'red' }], 'view:off_nadir': 3, 'view:moon_azimuth': 10 } },
]

test('documents keep the schemas of STAC', { skip }, async (t) => {
  const w = await world(t, { egressAllow: ['data.example'] })
  const org = await w.organization()
  const { token } = org.owner
  const validate = createValidator(w)
  const { id: collection_id } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Scenes' })
  const features = FEATURES.map((each, index) => ({ type: 'Feature', stac_version: '1.0.0', id: `scene-${index}`, assets: {}, ...each }))
  const ndjson = features.map((each) => JSON.stringify(each)).join('\n')
  const imported = await w.ok(token, 'items.import_stac', { project_id: org.projectId, collection_id, ndjson })
  assert.deepEqual([imported.created, imported.errors], [features.length, []])
  await w.ok(token, 'items.create', { project_id: org.projectId, type: 'user_raster', name: 'No place and no time' })
  const uploaded = await w.upload(token, org.projectId, { 'a.tif': await scene({ west: 151 }) }, { target_collection_id: collection_id })
  assert.equal(uploaded.status, 200, JSON.stringify(uploaded.body))
  for (const scenes of [0, 256, 257])
    await w.ok(token, 'mosaic.register', {
      project_id: org.projectId,
      name: `Mosaic of ${scenes}`,
      mosaic_method: 'median',
      bbox: [170, -10, -170, 10],
      start_datetime,
      end_datetime,
      source_collections: [collection_id, 'sentinel-2-l2a'],
      data_asset: { href: 'https://data.example/m.tif', band_count: 3 },
      ...(scenes === 0
        ? {}
        : {
            provenance_asset: { href: 'https://data.example/p.tif' },
            source_lookup: Array.from({ length: scenes }, (_, i) => ({ value: i + 1, scene_id: `S2/${i}` })),
          }),
      ...(scenes > 256 ? { source_lookup_asset: { href: 'https://data.example/l.json' } } : {}),
      source_manifest_asset: { href: 'https://data.example/s.parquet' },
    })
  const headers = { authorization: `Bearer ${token}` }
  const all = (await w.request('GET', '/stac/search?limit=1000', { headers })).body.features
  assert.equal(all.length, features.length + 5)

  await t.test('items of a search, of a file, alone, and of items.search', async () => {
    for (const each of all) {
      await validate(each, 'item-spec/json-schema/item.json')
      await validate((await w.request('GET', new URL(each.links[0].href).pathname, { headers })).body, 'item-spec/json-schema/item.json')
    }
    const lines = (await w.request('GET', '/stac/search?f=ndjson', { headers })).bytes.toString().trim().split('\n')
    for (const line of lines) await validate(JSON.parse(line), 'item-spec/json-schema/item.json')
    const search = await w.ok(token, 'items.search_org', { format: 'stac', limit: 1_000 })
    for (const each of search.features) await validate(each, 'item-spec/json-schema/item.json')
    assert.equal(lines.length, search.features.length)
  })

  await t.test('collections and the landing page', async () => {
    const { collections } = (await w.request('GET', '/stac/collections', { headers })).body
    assert.equal(collections.length, 2)
    for (const each of collections) await validate(each, 'collection-spec/json-schema/collection.json')
    await validate((await w.request('GET', '/stac', { headers })).body, 'catalog-spec/json-schema/catalog.json')
  })

  await t.test('what breaks them is found', async () => {
    const broken = { ...all[0], properties: { ...all[0].properties, datetime: 'yesterday' } }
    await assert.rejects(validate(broken, 'item-spec/json-schema/item.json'), /breaks/)
  })
})

// Goal: the same for what orders deliver and jobs compute, also after a copy and an upload into an imported item.
test('delivered, computed and copied items keep the schemas of STAC', { skip }, async (t) => {
  const w = await world(t, { vendors: true, egressAllow: ['data.example'] })
  const org = await w.organization()
  const { token } = org.owner
  await grant(w, org, 100_000)
  const placed = await placeArchive(w, org)
  assert.equal(placed.status, 200, JSON.stringify(placed.body))
  await work(w, [placed.body.id])
  const [delivered] = (await w.ok(token, 'orders.get', { id: placed.body.id })).itemIds
  const uploaded = await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 128, height: 128 }) })
  const item_id = uploaded.body.item_ids[0]
  const jobs: readonly [string, object][] = [
    ['band_math', { item_id, expression: 'b1*2' }],
    ['hillshade', { item_id }],
    ['contour', { item_id, interval: 100 }],
    ['cog_convert', { item_id: delivered }],
  ]
  for (const [job_type_id, input_params] of jobs) {
    const job = await w.ok(token, 'processing.create_and_dispatch', { project_id: org.projectId, job_type_id, input_params })
    await w.drain(runJob)
    const { status, error } = (await w.ok(token, 'processing.job.get', { job_id: job.job.id })).job
    assert.deepEqual([job_type_id, status, error], [job_type_id, 'completed', null])
  }
  await w.ok(token, 'items.duplicate', { item_id: delivered, target_project_id: org.projectId })
  const properties = { datetime, 'proj:code': 'EPSG:32755', 'eo:product_type': 'ortho' }
  const feature = {
    type: 'Feature',
    stac_version: '1.0.0',
    stac_extensions: [uri('projection', 'v2.0.0')],
    id: 'theirs',
    geometry,
    properties,
    assets: {},
  }
  await w.ok(token, 'items.import_stac', { project_id: org.projectId, ndjson: JSON.stringify(feature) })
  const [theirs] = (await w.ok(token, 'stac.search', { ids: ['theirs'] })).features
  await w.upload(token, org.projectId, { 'b.tif': await scene({}) }, { target_item_id: theirs.properties['svc:item_id'] })

  const validate = createValidator(w)
  const headers = { authorization: `Bearer ${token}` }
  const all = (await w.request('GET', '/stac/search?limit=1000', { headers })).body.features
  assert.equal(all.length, 1 + 1 + jobs.length + 1 + 1)
  for (const each of all) await validate(each, 'item-spec/json-schema/item.json')
  const ordered = all.find(({ properties: shown }: { properties: Record<string, unknown> }) => shown['svc:item_id'] === delivered)
  assert.equal(ordered.properties['proj:code'], undefined, 'the projection is measured, not what the vendor says of the whole scene')
  assert.ok(ordered.stac_extensions.includes(uri('view', 'v1.0.0')))
})
