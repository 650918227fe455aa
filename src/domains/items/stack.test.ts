import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { buildTiff, DOUBLE, plainTags, SHORT } from '#raster/testing/build-tiff.ts'
import run from '#domains/processing/run.task.ts'
import { fileHost } from '../../../test/support/ranges.ts'
import { tileAt } from '../../../test/support/scene.ts'
import { bandFile, reflectance, UTM_LEFT, UTM_TOP } from '../../../test/support/stack.ts'
import { boxAround as box, CENTRE, importItem as imported, type StackAsset } from '../../../test/support/stack-items.ts'
import { world } from '../../../test/support/world.ts'

const SIZE = { width: 300, height: 260, pixelM: 10 }
const COARSE = { width: 150, height: 130, pixelM: 20 }
const TILE = tileAt(CENTRE.longitude, CENTRE.latitude, 14)
const LEVELS = { blue: 500, green: 700, red: 900, nir: 3_000 } as const
const NAMES = Object.keys(LEVELS) as (keyof typeof LEVELS)[]
const valueOf = (name: keyof typeof LEVELS) => reflectance(LEVELS[name], NAMES.indexOf(name))

const near = (actual: number, expected: number, tolerance = 1e-9) =>
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${actual} is not ${expected}`)

// Goal: an item whose bands are in several files is one layer everywhere: the same pixels and values as one file with these bands.
test('an item with one file per band', async (t) => {
  const host = await fileHost(t)
  const w = await world(t, { egressAllow: [host.host] })
  const org = await w.organization()
  const at = { w, org, urlOf: host.url }
  const token = org.owner.token
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 10_000, reason: 'for a test' })
  for (const name of NAMES) host.put(`${name}.tif`, await bandFile({ ...SIZE, nodata: 0, value: valueOf(name) }))
  host.put('all.tif', await bandFile({ ...SIZE, nodata: 0, bandCount: 4, value: (x, y, band) => valueOf(NAMES[band]!)(x, y) }))
  host.put('swir.tif', await bandFile({ ...COARSE, nodata: 0, value: reflectance(2_000) }))
  const one = await imported(at, 'one-file', { data: { file: 'all.tif', bands: { 'eo:bands': NAMES.map((name) => ({ name })) } } })
  const files = Object.fromEntries(NAMES.map((name) => [name, { file: `${name}.tif` }]))
  const several = await imported(at, 'several-files', {
    ...files,
    swir16: { file: 'swir.tif' },
    thumbnail: { file: 'none.tif', roles: ['thumbnail'] },
  })
  const render = (item_id: string, input: object = {}) => w.call(token, 'items.tile.render', { item_id, ...TILE, format: 'png', ...input })
  const same = async (id: string, input: object = {}) => {
    const [first, second] = await Promise.all([one, several].map((item_id) => w.ok(token, id, { item_id, ...input })))
    return [first, second]
  }

  await t.test('tiles: default style, visualizations, band names and expressions', async () => {
    const styles = [
      {},
      { profile: 'ndvi' },
      { profile: 'cir' },
      { bands: 'red,green,blue' },
      { bands: 'nir', colormap: 'viridis' },
      { expression: '(nir-red)/(nir+red)', colormap: 'rdylgn', rescale: '-1,1' },
    ]
    for (const style of styles) {
      const [first, second] = await Promise.all([one, several].map((id) => render(id, style)))
      assert.deepEqual([first!.status, second!.status], [200, 200], `${JSON.stringify(style)} ${second!.bytes}`)
      assert.deepEqual(second!.bytes, first!.bytes, JSON.stringify(style))
      const { data } = await sharp(second!.bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
      assert.ok(
        data.some((value, i) => i % 4 === 3 && value === 255),
        'some pixels are shown',
      )
    }
    const wmts = await Promise.all(
      [one, several].map((item_id) => w.call(token, 'items.tile.wmts_get_tile', { item_id, ...TILE, format: 'png', profile: 'ndvi' })),
    )
    assert.deepEqual(wmts[0]!.bytes, wmts[1]!.bytes)
    const [first, second] = await same('items.tile.tilejson')
    assert.deepEqual(second.bounds, first.bounds)
  })

  await t.test('its bands are those of all files, numbered as in expressions; one file can be named', async () => {
    const { bands } = await w.ok(token, 'items.detect_asset_bands', { item_id: several })
    assert.deepEqual(
      bands.map(({ index, name, role }: { index: number; name: string; role: string }) => [index, name, role]),
      [[1, 'blue', 'BLUE'], [2, 'green', 'GREEN'], [3, 'red', 'RED'], [4, 'nir', 'NIR'], [5, 'swir16', 'SWIR1']], // prettier-ignore
    )
    const { results } = await w.ok(token, 'items.point', { item_id: several, ...CENTRE, expression: 'b4-nir' })
    assert.equal(results[0].value, 0)
    const named = await w.ok(token, 'items.detect_asset_bands', { item_id: several, asset_id: 'red' })
    assert.equal(named.bands.length, 1)
  })

  await t.test('values: statistics, points, zones, series and change', async () => {
    const [stats, ofStack] = await same('items.tile.statistics', { expression: '(nir-red)/(nir+red)' })
    assert.deepEqual(ofStack.results, stats.results)
    const point = await w.ok(token, 'items.point', { item_id: several, ...CENTRE, expression: 'swir16/red' })
    const expected = await w.ok(token, 'items.point', { item_id: one, ...CENTRE })
    for (const { name, value } of expected.bands)
      assert.equal(point.bands.find((band: { name: string }) => band.name === name).value, value, name)
    const valueAt = (name: string): number => point.bands.find((band: { name: string }) => band.name === name).value
    near(point.results[0].value, valueAt('swir16') / valueAt('red'))
    const execute = async (item_id: string, operation: string, params: object) =>
      (await w.ok(token, 'analytics.execute', { operation, params: { ...(operation === 'zonal_stats' ? { item_id } : {}), ...params } }))
        .result
    const zonal = { geometry: box(0.005), index_name: 'ndvi', statistics: ['mean', 'count', 'std'], percentiles: [50] }
    assert.deepEqual(
      (await execute(several, 'zonal_stats', zonal)).zones[0].results[0].mean,
      (await execute(one, 'zonal_stats', zonal)).zones[0].results[0].mean,
    )
    const { points, skipped } = await execute('', 'time_series', { item_ids: [one, several], geometry: box(0.005), index_name: 'ndvi' })
    assert.deepEqual([points.length, skipped.length, points[0].mean], [2, 0, points[1].mean])
    const change = await execute('', 'change_detection', {
      before_item_id: one,
      after_item_id: several,
      geometry: box(0.005),
      index_name: 'ndvi',
      change_threshold: 0.1,
    })
    assert.ok(JSON.stringify(change).includes('"mean":0'), JSON.stringify(change).slice(0, 500))
    const mixed = await execute(several, 'zonal_stats', {
      geometry: box(0.005),
      expression: '(swir16-red)/(swir16+red)',
      statistics: ['mean'],
    })
    assert.ok(mixed.zones[0].results[0].mean > 0.2)
  })

  await t.test('jobs: band math and clip use the files as one raster', async () => {
    const resultOf = async (job_type_id: string, input: object): Promise<{ bands: { name: string; value: number }[] }> => {
      const { job } = await w.ok(token, 'processing.create_and_dispatch', { project_id: org.projectId, job_type_id, input_params: input })
      await w.drain(run)
      const done = (await w.ok(token, 'processing.job.get', { job_id: job.id })).job
      assert.equal(done.status, 'completed', JSON.stringify(done))
      return await w.ok(token, 'items.point', { item_id: done.output_item_ids[0], ...CENTRE })
    }
    const { bands } = await w.ok(token, 'items.point', { item_id: several, ...CENTRE })
    const valueOfBand = (name: string): number => bands.find((band: { name: string }) => band.name === name).value
    const [nir, red] = [valueOfBand('nir'), valueOfBand('red')]
    const math = await resultOf('band_math', { item_id: several, expression: '(nir-red)/(nir+red)' })
    near(math.bands[0]!.value, (nir - red) / (nir + red), 1e-6)
    // Scenes with different offsets mix as physical values.
    const scaled = { bands: { 'eo:bands': [{ name: 'x' }], 'raster:bands': [{ scale: 0.0001, offset: -0.1 }] } }
    const assets = { red: { file: 'red.tif', ...scaled }, nir: { file: 'nir.tif', ...scaled } }
    const item_ids = [
      await imported(at, 'offset', assets),
      await imported(at, 'no-offset', assets, { 'earthsearch:boa_offset_applied': true }),
    ]
    const composite = await resultOf('composite', { item_ids, statistic: 'mean' })
    near(composite.bands[0]!.value, red * 0.0001 - 0.05, 1e-6)
    const clip = await resultOf('reproject', { item_id: several, epsg: 32_756, resampling: 'nearest' })
    assert.deepEqual(
      clip.bands.map(({ name, value }) => [name, value]),
      bands.map(({ name, value }: { name: string; value: number }) => [name, value]),
    )
  })

  await t.test('a collection and a share link show it', async () => {
    const { id: collection_id } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Stacks' })
    await w.ok(token, 'items.update', { item_id: several, collection_id })
    const mosaic = await w.call(token, 'collections.tile.render', {
      collection_id,
      ...TILE,
      format: 'png',
      expression: '(nir-red)/(nir+red)',
      rescale: '-1,1',
    })
    assert.equal(mosaic.status, 200, mosaic.bytes.toString().slice(0, 300))
    assert.deepEqual(
      await pixels(mosaic.bytes),
      await pixels((await render(one, { expression: '(nir-red)/(nir+red)', rescale: '-1,1' })).bytes),
    )
  })
})

const pixels = async (bytes: Buffer) => (await sharp(bytes).ensureAlpha().raw().toBuffer()).toString('base64')

// Goal: values are physical where the catalogue states scale and offset, and the known traps of Sentinel-2 are handled.
test('scale and offset of a stack', async (t) => {
  const host = await fileHost(t)
  const w = await world(t, { egressAllow: [host.host] })
  const org = await w.organization()
  const at = { w, org, urlOf: host.url }
  for (const name of ['red', 'nir'] as const) host.put(`${name}.tif`, await bandFile({ ...SIZE, nodata: 0, value: valueOf(name) }))
  const valuesOf = async (id: string, assets: Record<string, StackAsset>, properties: object) => {
    await imported(at, id, assets, properties)
    const { bands } = await w.ok(org.owner.token, 'items.point', { item_id: id, ...CENTRE, expression: 'red' })
    return Object.fromEntries(bands.map(({ name, value }: { name: string; value: number }) => [name, value]))
  }
  const raw = await valuesOf('raw', { red: { file: 'red.tif' }, nir: { file: 'nir.tif' } }, {})
  const earthSearch = (name: string): StackAsset => ({
    file: `${name}.tif`,
    bands: { 'eo:bands': [{ name, common_name: name }], 'raster:bands': [{ data_type: 'uint16', nodata: 0, scale: 0.0001, offset: -0.1 }] },
  })
  const assets = { red: earthSearch('red'), nir: earthSearch('nir') }
  const sentinel2 = { platform: 'sentinel-2b' }

  await t.test('stated scale and offset apply', async () => {
    const { red } = await valuesOf('stated', assets, sentinel2)
    near(red, raw['red'] * 0.0001 - 0.1)
  })

  await t.test('an offset that Earth Search has already applied does not', async () => {
    const { red, nir } = await valuesOf('applied', assets, { ...sentinel2, 'earthsearch:boa_offset_applied': true })
    near(red, raw['red'] * 0.0001)
    near(nir, raw['nir'] * 0.0001)
  })

  await t.test('without a statement the processing baseline of Sentinel-2 decides; B04 and red are the same band', async () => {
    const planetary = {
      B04: { file: 'red.tif', roles: ['data'], bands: { 'eo:bands': [{ name: 'B04', common_name: 'red' }] } },
      B08: { file: 'nir.tif', roles: ['data'], bands: { 'eo:bands': [{ name: 'B08', common_name: 'nir' }] } },
    }
    const after = await valuesOf('new-baseline', planetary, { ...sentinel2, 's2:processing_baseline': '05.09' })
    near(after['red'], (raw['red'] - 1_000) * 0.0001)
    const before = await valuesOf('old-baseline', planetary, { ...sentinel2, 's2:processing_baseline': '02.14' })
    near(before['red'], raw['red'] * 0.0001)
    const { results } = await w.ok(org.owner.token, 'items.point', {
      item_id: 'new-baseline',
      ...CENTRE,
      expression: 'B04-red;B08:B08-nir;b1-red',
    })
    assert.deepEqual(
      results.map(({ value }: { value: number }) => value),
      [0, 0, 0],
    )
  })

  await t.test('STAC 1.1 has everything in bands', async () => {
    const modern = (name: string): StackAsset => ({
      file: `${name}.tif`,
      bands: { bands: [{ name: `x_${name}`, 'eo:common_name': name, data_type: 'uint16', 'raster:scale': 0.0001, 'raster:offset': -0.2 }] },
    })
    const values = await valuesOf('stac-1.1', { one: modern('red'), two: modern('nir') }, {})
    near(values['red'], raw['red'] * 0.0001 - 0.2)
  })

  await t.test('one file keeps its samples, whatever is stated', async () => {
    await imported(at, 'single', { data: { ...earthSearch('red'), roles: ['data'] } }, sentinel2)
    const { bands } = await w.ok(org.owner.token, 'items.point', { item_id: 'single', ...CENTRE })
    assert.equal(bands[0].value, raw['red'])
  })
})

/** A file of 10 m without pixels and without overviews, around the others. */
function withoutOverviews(side: number): Uint8Array {
  const blocks = Math.ceil(side / 512) ** 2
  const sparse = Array.from({ length: blocks }, () => 0)
  const tags = [
    ...plainTags(side, side, { 322: [512], 323: [512], 324: sparse, 325: sparse }),
    { tag: 33_550, type: DOUBLE, values: [10, 10, 0] },
    { tag: 33_922, type: DOUBLE, values: [0, 0, 0, UTM_LEFT, UTM_TOP, 0] },
    { tag: 34_735, type: SHORT, values: [1, 1, 0, 2, 1_024, 0, 1, 1, 3_072, 0, 1, 32_756] },
  ]
  return buildTiff({ ifds: [{ tags }] })
}

// Goal: a file that fails makes its own band fail, with its asset's name and what to do; other bands render.
test('failures of a stack', async (t) => {
  const host = await fileHost(t)
  const outside = await fileHost(t)
  outside.put('red.tif', await bandFile({ ...SIZE, value: valueOf('red') }))
  const w = await world(t, { egressAllow: [host.host] })
  const org = await w.organization()
  const at = { w, org, urlOf: host.url }
  const token = org.owner.token
  for (const name of NAMES) host.put(`${name}.tif`, await bandFile({ ...SIZE, nodata: 0, value: valueOf(name) }))
  host.put('broken.tif', new TextEncoder().encode('II*\0 this is not a TIFF file at all, only its first bytes are'))
  host.put('huge.tif', buildTiff({ ifds: [{ tags: plainTags(3_000_000, 16), blocks: [new Uint8Array(256)] }] }))
  host.put('sparse.tif', withoutOverviews(60_000))
  host.put('far.tif', await bandFile({ ...SIZE, left: 500_000, value: valueOf('nir') }))
  const files = Object.fromEntries(['red', 'green', 'blue'].map((name) => [name, { file: `${name}.tif` }]))
  const id = await imported(at, 'damaged', {
    ...files,
    missing: { file: 'missing.tif' },
    broken: { file: 'broken.tif' },
    expired: { file: host.url('expired.tif?se=2020-01-01') },
    huge: { file: 'huge.tif' },
    sparse: { file: 'sparse.tif' },
    outside: { file: `https://${outside.host}/red.tif` },
    far: { file: 'far.tif' },
    foreign: { file: 'https://elsewhere.example/nir.tif' },
  })
  const render = (input: object) => w.call(token, 'items.tile.render', { item_id: id, ...TILE, format: 'png', ...input })

  await t.test('other bands render', async () => {
    assert.equal((await render({})).status, 200)
    assert.equal((await render({ expression: '(red-blue)/(red+blue)', rescale: '-1,1' })).status, 200)
  })

  await t.test('each failure names its asset', async () => {
    const missing = await render({ expression: 'missing/red' })
    assert.equal(missing.status, 422)
    assert.match(
      missing.body.errors[0].message,
      /^The asset 'missing' cannot be read: .*status 404\. Correct or renew its link, or use other bands$/,
    )
    const expired = await render({ expression: 'expired/red' })
    assert.equal(expired.status, 422)
    assert.match(expired.body.errors[0].message, /^The asset 'expired' cannot be read: .*status 403\. Correct or renew its link/)
    const huge = await render({ bands: 'huge' })
    assert.equal(huge.status, 422)
    assert.match(huge.body.detail, /^The asset 'huge' cannot be read: .*Replace the file, or use other bands$/)
    const broken = await render({ bands: 'broken' })
    assert.equal(broken.status, 422)
    assert.match(broken.body.detail, /^The asset 'broken' cannot be read: .*Replace the file, or use other bands$/)
    const foreign = await render({ expression: 'foreign-red' })
    assert.equal(foreign.status, 422)
    assert.match(JSON.stringify(foreign.body), /The asset 'foreign' cannot be read: the host 'elsewhere.example' of url is not allowed/)
    const far = await render({ expression: 'far-red' })
    assert.equal(far.status, 422)
    assert.match(JSON.stringify(far.body), /The assets '\w+' and '\w+' do not overlap/)
    const bare = await w.call(token, 'items.tile.render', {
      item_id: id,
      ...tileAt(CENTRE.longitude, CENTRE.latitude, 4),
      format: 'png',
      bands: 'sparse',
      rescale: '0,1',
    })
    assert.equal(bare.status, 422, bare.bytes.toString())
    assert.match(bare.body.detail, /^The asset 'sparse' has no overview that is small enough for this image\. Add overviews to the file/)
  })

  await t.test('a file on a host that is not allowed is never requested', async () => {
    const before = outside.connections()
    for (const input of [{ bands: 'outside' }, { expression: 'outside/red' }]) assert.equal((await render(input)).status, 422)
    await w.ok(token, 'items.point', { item_id: id, ...CENTRE })
    await w.ok(token, 'items.detect_asset_bands', { item_id: id })
    assert.equal(outside.connections(), before)
  })

  await t.test('jobs fail only for the bands that they use, before anything is charged', async () => {
    await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
    const jobOf = async (expression: string) => {
      const input = { project_id: org.projectId, job_type_id: 'band_math', input_params: { item_id: id, expression } }
      const { job } = await w.ok(token, 'processing.create_and_dispatch', input)
      await w.drain(run)
      return (await w.ok(token, 'processing.job.get', { job_id: job.id })).job
    }
    const done = await jobOf('red-blue')
    assert.deepEqual([done.status, done.captured_credits > 0], ['completed', true], done.error)
    for (const name of ['missing', 'broken', 'outside']) {
      const failed = await jobOf(`${name}-red`)
      assert.deepEqual([failed.status, failed.captured_credits], ['failed', 0])
      assert.match(failed.error, new RegExp(`The asset '${name}'`))
    }
  })

  await t.test('a report shows the bands that can be read', async () => {
    const { url } = await w.ok(token, 'reports.generate', { report_type: 'item', item_id: id, format: 'json' })
    const { tables } = (await (await fetch(url)).json()) as { tables: { title: string; rows: { name: string }[] }[] }
    const names = tables.find(({ title }) => title.startsWith('Band statistics'))!.rows.map(({ name }) => name)
    assert.ok(['blue', 'green', 'red'].every((name) => names.includes(name)) && !names.includes('broken'), names.join())
  })

  await t.test('a point has the values of all other bands', async () => {
    const { bands } = await w.ok(token, 'items.point', { item_id: id, ...CENTRE, expression: 'red' })
    const byName = Object.fromEntries(bands.map(({ name, value }: { name: string; value: number | null }) => [name, value]))
    assert.ok(byName['red'] > 0 && byName['blue'] > 0)
    assert.deepEqual([byName['missing'], byName['broken'], byName['foreign']], [null, null, null])
  })

  await t.test('only the files of the used bands are requested', async () => {
    const names = NAMES.map((name) => `${name}2`)
    for (const name of NAMES) host.put(`${name}2.tif`, await bandFile({ ...SIZE, nodata: 0, value: valueOf(name) }))
    const other = await imported(at, 'lazy', Object.fromEntries(names.map((name) => [name, { file: `${name}.tif` }])))
    const before = host.requests()
    const tile = await w.call(token, 'items.tile.render', { item_id: other, ...TILE, format: 'png', bands: 'nir2', rescale: '0,4000' })
    assert.equal(tile.status, 200)
    assert.ok(host.requests() - before <= 6, `${host.requests() - before} requests for one band`)
  })

  await t.test('too many files', async () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`band_${index}`, { file: 'red.tif' }]))
    const large = await imported(at, 'large', many)
    const refused = await w.call(token, 'items.tile.render', { item_id: large, ...TILE, format: 'png' })
    assert.equal(refused.status, 422)
    assert.match(JSON.stringify(refused.body), /A stack has 1 to 32 bands, not 33/)
    assert.equal((await w.call(token, 'items.tile.render', { item_id: large, ...TILE, format: 'png', asset_key: 'band_7' })).status, 200)
  })
})
