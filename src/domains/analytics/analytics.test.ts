import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scene } from '../../../test/support/scene.ts'
import { world, type Org, type World } from '../../../test/support/world.ts'

type Ring = [number, number][]
const polygon = (ring: Ring) => ({ type: 'Polygon', coordinates: [ring] })
const box = (west: number, south: number, east: number, north: number) =>
  polygon([
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ])

/** Red is 1,000 everywhere and infrared rises with the columns, so that every index is known; 151° E, 33° S. */
const bands = (nir: (x: number, y: number) => number) => (band: number, x: number, y: number) => (band === 3 ? nir(x, y) : 1_000)

async function upload(w: World, org: Org, name: string, nir: (x: number, y: number) => number, datetime?: string): Promise<string> {
  const { body } = await w.upload(org.owner.token, org.projectId, { [`${name}.tif`]: await scene({ value: bands(nir) }) })
  const id = body.item_ids[0] as string
  if (datetime) await w.ok(org.owner.token, 'items.update', { item_id: id, datetime })
  return id
}

const near = (actual: number, expected: number, tolerance = 1e-6) =>
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`)

// Goal: methods return the values of the pixels; rejections say what to send, or what to run instead.
test('analytics.execute', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const item = await upload(w, org, 'field', (x) => 1_000 + x)
  const execute = (operation: string, params: object) => w.call(org.owner.token, 'analytics.execute', { operation, params })

  await t.test('zonal statistics weight edge pixels by the fraction inside', async () => {
    // 100.5 columns from 100 on, of which the last counts half.
    const { status, body } = await execute('zonal_stats', {
      item_id: item,
      geometry: box(151.1, -33.1, 151.2005, -33.05),
      bands: [4],
      statistics: ['count', 'sum', 'mean', 'min', 'max'],
      percentiles: [50],
    })
    assert.equal(status, 200, JSON.stringify(body))
    const [zone] = body.result.zones
    const sum = Array.from({ length: 100 }, (_, k) => 1_100 + k).reduce((a, b) => a + b, 0) + 1_200 / 2
    near(zone.results[0].count, 100.5 * 50, 1e-3)
    near(zone.results[0].mean, sum / 100.5, 1e-6)
    assert.deepEqual([zone.results[0].min, zone.results[0].max], [1_100, 1_200])
    near(zone.results[0].percentiles[0].value, 1_149.9, 1e-3)
    assert.equal(body.raster, null)
  })

  await t.test('an index over many zones with IDs records lineage, emits an event and returns tiles', async () => {
    const features = Array.from({ length: 250 }, (_, k) => ({
      type: 'Feature',
      id: `parcel ${k}`,
      properties: { k },
      geometry: box(151 + k * 0.001, -33.1, 151.001 + k * 0.001, -33.05),
    }))
    const { status, body } = await execute('zonal_stats', {
      item_id: item,
      zones: { type: 'FeatureCollection', features },
      index_name: 'NDVI',
      statistics: ['mean'],
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.result.zones.length, 250)
    for (const k of [0, 17, 249]) {
      assert.deepEqual([body.result.zones[k].id, body.result.zones[k].properties], [`parcel ${k}`, { k }])
      near(body.result.zones[k].results[0].mean, k / (2_000 + k), 1e-9)
    }
    assert.equal(body.result.expression, '(b4 - b3) / (b4 + b3)')
    const graph = await w.ok(org.owner.token, 'provenance.get', { entity_type: 'item', entity_id: item, direction: 'down' })
    assert.ok(graph.edges.some((edge: { src_type: string; src_id: string }) => edge.src_type === 'report' && edge.src_id === body.id))
    const event = await w.db.selectFrom('event').selectAll().where('type', '=', 'analytics.executed').execute()
    assert.ok(event.some((row) => JSON.stringify(row).includes(body.id)))
    const tile = body.raster.tile_template.replace('{z}', '10').replace('{x}', '941').replace('{y}', '612').replace(w.baseUrl, '')
    const image = await w.request('GET', tile, { headers: { authorization: `Bearer ${org.owner.token}` } })
    assert.equal(image.status, 200)
    assert.equal(image.headers.get('content-type'), 'image/webp')
  })

  await t.test('invalid parameters are rejected with their schema, and nothing is recorded', async () => {
    const count = async () => (await w.db.selectFrom('lineage_node').select('seq').where('entity_type', '=', 'report').execute()).length
    const before = await count()
    for (const [operation, params, field] of [
      ['zonal_stats', { geometry: box(151, -33.1, 151.1, -33) }, /item_id/],
      ['zonal_stats', { item_id: item }, /geometry/],
      ['zonal_stats', { item_id: item, geometry: box(151, -33.1, 151.1, -33), mode: 'fast' }, /mode/],
      ['zonal_stats', { item_id: item, geometry: { type: 'Point', coordinates: [151, -33] } }, /geometry/],
      ['zonal_stats', { item_id: item, geometry: box(151, -33.1, 151.1, -33), index_name: 'nbr' }, /SWIR2/],
      ['zonal_stats', { item_id: item, geometry: box(151, -33.1, 151.1, -33), expression: 'NIR -' }, /character/],
      ['time_series', { geometry: box(151, -33.1, 151.1, -33), index_name: 'ndvi' }, /collection_id/],
      ['change_detection', { before_item_id: item, geometry: box(151, -33.1, 151.1, -33) }, /after_item_id/],
    ] as const) {
      const { status, body } = await execute(operation, params)
      assert.equal(status, 422, JSON.stringify(params))
      assert.match(body.detail, field)
      assert.equal(body.expected_schema.type, 'object', operation)
      assert.ok(body.expected_schema.properties.geometry)
    }
    const unknown = await execute('median', {})
    assert.equal(unknown.status, 422)
    assert.match(unknown.body.detail, /zonal_stats, time_series, change_detection/)
    assert.equal((await execute('zonal_stats', { item_id: 'nobody', geometry: box(151, -33.1, 151.1, -33) })).status, 404)
    assert.equal(await count(), before)
  })

  await t.test('a time series is ordered by date, and skipped scenes have a reason', async () => {
    const { id: collection } = await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Year' })
    const months = [3, 1, 2]
    for (const month of months) {
      const id = await upload(w, org, `month ${month}`, () => 1_000 * (1 + month), `2029-0${month}-15T00:00:00Z`)
      await w.ok(org.owner.token, 'items.update', { item_id: id, collection_id: collection })
    }
    const area = box(151.05, -33.1, 151.06, -33.09)
    const { status, body } = await execute('time_series', {
      collection_id: collection,
      geometry: area,
      index_name: 'ndvi',
      statistics: ['mean', 'count'],
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(
      body.result.points.map(({ datetime, mean }: { datetime: string; mean: number }) => [datetime.slice(0, 7), Number(mean.toFixed(9))]),
      [
        ['2029-01', Number((1 / 3).toFixed(9))],
        ['2029-02', 0.5],
        ['2029-03', 0.6],
      ],
    )
    const shorter = await execute('time_series', {
      collection_id: collection,
      geometry: area,
      index_name: 'ndvi',
      datetime: '2029-02-01T00:00:00Z/..',
    })
    assert.equal(shorter.body.result.points.length, 2)
    const elsewhere = await execute('time_series', { item_ids: [item], geometry: box(10, 10, 11, 11), index_name: 'ndvi' })
    assert.equal(elsewhere.status, 400)
    assert.match(elsewhere.body.detail, /does not cover the area/)
    const { result } = (await execute('time_series', { item_ids: [item], geometry: area, expression: 'b1' })).body
    assert.deepEqual([result.points.length, result.skipped.length], [1, 0])
    const lacking = await execute('time_series', { item_ids: [item], geometry: area, expression: 'b60' })
    assert.equal(lacking.status, 400)
    assert.match(lacking.body.detail, /No scene could be used.*band 60/)
  })

  await t.test('a change is measured in hectares and rendered', async () => {
    const after = await upload(w, org, 'later', (x) => (x < 150 ? 1_000 + x : 4_000))
    const { status, body } = await execute('change_detection', {
      before_item_id: item,
      after_item_id: after,
      geometry: box(151.1, -33.1, 151.2, -33.05),
      index_name: 'ndvi',
      change_threshold: 0.2,
    })
    assert.equal(status, 200, JSON.stringify(body))
    const { gain, loss, unchanged } = body.result
    near(gain.pixels, 50 * 50, 1e-6)
    near(loss.pixels, 0)
    near(unchanged.fraction, 0.5, 1e-6)
    // A thousandth of a degree at 33° S is 110.9 m by 93.4 m.
    near(gain.area_ha, (2_500 * 110.9 * 93.4) / 10_000, 0.01)
    const image = await fetch(body.raster.picture_url)
    assert.deepEqual([image.status, image.headers.get('content-type')], [200, 'image/png'])
    assert.ok((await image.arrayBuffer()).byteLength > 200)
    const cog = Buffer.from(await (await fetch(body.raster.url)).arrayBuffer())
    assert.equal(cog.subarray(0, 2).toString(), 'II')
  })

  await t.test('a request that is too large names the process to run instead', async () => {
    const wide = await w.upload(org.owner.token, org.projectId, {
      'wide.tif': await scene({
        width: 3_000,
        height: 3_000,
        degrees: 0.0001,
        bandNames: ['gray'],
        dataType: 'uint8',
        value: (_b, x, y) => (x ^ y) & 255,
      }),
    })
    const { status, body } = await execute('change_detection', {
      before_item_id: wide.body.item_ids[0],
      after_item_id: wide.body.item_ids[0],
      geometry: box(151, -33.3, 151.3, -33),
      expression: 'b1',
    })
    assert.equal(status, 422)
    assert.equal(body.code, 'raster-too-demanding')
    assert.equal(body.process_id, 'change_detection')
    assert.match(body.detail, /processing\.create_and_dispatch/)
  })
})

// Goal: single measures over an item or a file return statistics and, on request, an image.
test('analytics.band_math and calculate_index', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const item = await upload(w, org, 'field', (x) => 1_000 + x)
  const call = (id: string, input: object) => w.call(org.owner.token, id, input)

  await t.test('a formula over band roles returns statistics of a bounding box, and an image', async () => {
    const { status, body } = await call('analytics.band_math', {
      item_id: item,
      formula: '(nir - red) / (nir + red)',
      bbox: { west: 151.1, south: -33.1, east: 151.2, north: -33.05 },
      output_format: 'png',
      max_size: 200,
    })
    assert.equal(status, 200, JSON.stringify(body))
    near(body.result.statistics.min, 100 / 2_100)
    near(body.result.statistics.max, 199 / 2_199)
    near(body.result.pixel_count, 5_000, 1e-3)
    assert.deepEqual([body.image.media_type, body.image.width], ['image/png', 200])
    assert.equal(Buffer.from(body.image.base64, 'base64').subarray(1, 4).toString(), 'PNG')
    assert.match(body.raster.tile_template, /expression=/)
  })

  await t.test('an index that requires reflectance scales 16-bit integers, and returns the factor', async () => {
    const { body } = await call('analytics.calculate_index', {
      item_id: item,
      index_name: 'savi',
      geometry: box(151.1, -33.1, 151.101, -33.099),
    })
    near(body.result.statistics.mean, (1.5 * (0.11 - 0.1)) / (0.11 + 0.1 + 0.5), 1e-6)
    assert.equal(body.result.reflectance_scale, 0.0001)
  })

  await t.test('a saved formula can be used as an index, by its name', async () => {
    await w.ok(org.owner.token, 'band_formulas.create', { name: 'Lush', formula: 'NIR / RED' })
    const { status, body } = await call('analytics.calculate_index', { item_id: item, index_name: 'lush' })
    assert.equal(status, 200, JSON.stringify(body))
    near(body.result.statistics.min, 1)
  })

  await t.test('bands are matched by mapping or sensor, and missing ones are listed', async () => {
    const missing = await call('analytics.calculate_index', { item_id: item, index_name: 'ndmi' })
    assert.equal(missing.status, 422)
    assert.match(missing.body.detail, /SWIR1/)
    assert.equal((await call('analytics.calculate_index', { item_id: item, index_name: 'ndmi', band_mapping: { SWIR1: 1 } })).status, 200)
    assert.equal((await call('analytics.calculate_index', { item_id: item, index_name: 'ndmi', band_mapping: { SWIR1: 9 } })).status, 422)
    assert.equal((await call('analytics.band_math', { item_id: item, formula: 'b1', sensor: 'hubble' })).status, 422)
    assert.equal((await call('analytics.band_math', { formula: 'b1' })).status, 422)
    assert.equal((await call('analytics.band_math', { item_id: item, formula: 'b1', vmin: 1 })).status, 422)
  })
})

// Goal: methods, indices and sensors are listed and described, and formulas are validated, without computing anything.
test('analytics: methods, indices, sensors and formulas', async (t) => {
  const w = await world(t)
  const { owner } = await w.organization()
  const ok = (id: string, input: object = {}) => w.ok(owner.token, id, input)

  await t.test('methods come with the schema of their params', async () => {
    const { operations } = await ok('analytics.operations.list')
    assert.deepEqual(
      operations.map(({ operation }: { operation: string }) => operation),
      ['zonal_stats', 'time_series', 'change_detection'],
    )
    assert.equal((await ok('analytics.operations.list', { data_type: 'dem' })).operations.length, 1)
    const { params_schema } = await ok('analytics.operations.get', { operation_name: 'change_detection' })
    assert.deepEqual(params_schema.required.toSorted(), ['after_item_id', 'before_item_id', 'geometry'])
    assert.equal((await w.call(owner.token, 'analytics.operations.get', { operation_name: 'magic' })).status, 404)
  })

  await t.test('indices are listed by category and sensor', async () => {
    const all = await ok('analytics.indices.list')
    assert.ok(all.total >= 150)
    const sentinel = await ok('analytics.indices.list', { sensor: 'sentinel-2', category: 'vegetation' })
    assert.ok(sentinel.total > 40 && sentinel.indices.every(({ sensors }: { sensors: string[] }) => sensors.includes('sentinel-2')))
    assert.equal((await ok('analytics.index.get', { index_name: 'EVI' })).needs_reflectance, true)
    assert.equal((await w.call(owner.token, 'analytics.index.get', { index_name: 'nope' })).status, 404)
    const { sensors } = await ok('analytics.sensors.list')
    assert.ok(sensors.length >= 15)
    assert.equal(sensors.find(({ id }: { id: string }) => id === 'sentinel-2').bands[7].role, 'NIR')
  })

  await t.test('a formula is validated against a sensor, with the position of an error', async () => {
    assert.deepEqual(
      (await ok('analytics.validate_formula', { formula: '(nir - B04) / (NIR + RED)', sensor: 'sentinel-2' })).required_bands,
      ['RED', 'NIR'],
    )
    const invalid = await ok('analytics.validate_formula', { formula: 'NIR - SWIR1', sensor: 'skysat' })
    assert.deepEqual([invalid.valid, invalid.errors.length], [false, 1])
    assert.match(invalid.error, /SWIR1/)
    assert.equal((await ok('analytics.validate_formula', { formula: 'b5 - b1', band_count: 4 })).valid, false)
    assert.equal((await ok('analytics.validate_formula', { formula: 'b4 - RED' })).valid, true)
  })
})
