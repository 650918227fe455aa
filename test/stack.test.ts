import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import sharp from 'sharp'
import { workersOf } from '#adapters/workers/registry.ts'
import { isUuid } from '#core/ids.ts'
import run from '#domains/processing/run.task.ts'
import { memorySource } from '#raster/source/memory.ts'
import { openTiff } from '#raster/tiff/open.ts'
import { fileHost } from './support/ranges.ts'
import { tileAt } from './support/scene.ts'
import { bandFile, reflectance } from './support/stack.ts'
import { boxAround, CENTRE, importItem } from './support/stack-items.ts'
import { world, type World } from './support/world.ts'

/** In the order of a stack, which is alphabetical. */
const LEVELS = { blue: 500, green: 700, nir: 3_000, red: 900 } as const
const NAMES = Object.keys(LEVELS) as (keyof typeof LEVELS)[]
const SIZE = { width: 300, height: 260, pixelM: 10, nodata: 0 }
const TILE = tileAt(CENTRE.longitude, CENTRE.latitude, 14)
const NDVI = '(nir-red)/(nir+red)'
const AREA = boxAround(0.005)
const PASSWORD = 'correct horse battery'
const WORKER_SECRET = 'wrk_a-secret-of-some-length'
const WORKERS = workersOf(
  [{ name: 'one', job_types: ['hillshade'], secret_sha256: createHash('sha256').update(WORKER_SECRET).digest('hex') }],
  ['hillshade'],
)

/** Each band differs, and has a few pixels without data of its own. */
const valueOf = (name: keyof typeof LEVELS) => (xM: number, yM: number) => {
  const isHole = Math.floor(xM / 90) % 11 === NAMES.indexOf(name) && Math.floor(yM / 70) % 7 === 3
  return isHole ? 0 : reflectance(LEVELS[name], NAMES.indexOf(name))(xM, yM)
}

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Decoded, because names in metadata may differ. An image without anything in it would prove nothing. */
async function pixelsOf(bytes: Buffer): Promise<string> {
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const shown = data.filter((_, i) => i % 4 < 3 && data[i - (i % 4) + 3] === 255)
  assert.ok(new Set(shown).size > 3, 'the image shows something')
  return `${info.width}×${info.height} ${digest(data)}`
}

async function samplesOf(bytes: Uint8Array) {
  const { info, ...raster } = await opened(bytes)
  const { data, mask } = await raster.readWindow(0, { x: 0, y: 0, width: info.width, height: info.height })
  return {
    size: [info.width, info.height],
    transform: info.transform,
    type: info.dataType,
    nodata: info.bands.map(({ nodata }) => String(nodata)),
    samples: data.map((plane) => digest(new Uint8Array(plane.buffer, plane.byteOffset, plane.byteLength))),
    mask: mask && digest(mask),
  }
}

async function opened(bytes: Uint8Array) {
  const raster = await openTiff(memorySource(bytes))
  return { info: raster.info, readWindow: raster.readWindow.bind(raster) }
}

/** What every result differs in: IDs, URLs and times. */
const without = (value: unknown, ...names: string[]): unknown =>
  JSON.parse(JSON.stringify(value, (key, each: unknown) => (names.includes(key) ? undefined : each)))

const withoutIds = (tileJson: { visualizations: { id: string }[] }) => ({
  ...(without(tileJson, 'tiles', 'name') as object),
  visualizations: tileJson.visualizations.map((each) => ({ ...each, id: isUuid(each.id) ? 'saved' : each.id })),
})

// Goal: everything that reads a raster gives the same for bands in several files as for one file with these bands.
test('each surface on several files and on one', { timeout: 600_000 }, async (t) => {
  const host = await fileHost(t)
  const w = await world(t, { egressAllow: [host.host], workers: WORKERS })
  const org = await w.organization()
  const { token } = org.owner
  const at = { w, org, urlOf: host.url }
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 100_000, reason: 'for a test' })
  for (const name of NAMES) host.put(`${name}.tif`, await bandFile({ ...SIZE, value: valueOf(name) }))
  host.put('all.tif', await bandFile({ ...SIZE, bandCount: NAMES.length, value: (x, y, band) => valueOf(NAMES[band]!)(x, y) }))
  host.put('pan.tif', await bandFile({ ...SIZE, width: 600, height: 520, pixelM: 5, value: reflectance(1_100, 9) }))
  const bands = { 'eo:bands': NAMES.map((name) => ({ name })) }
  const files = Object.fromEntries(NAMES.map((name) => [name, { file: `${name}.tif` }]))
  const pan = { pan: { file: 'pan.tif', roles: ['data'] } }
  const pair = {
    plain: [await importItem(at, 'one', { data: { file: 'all.tif', bands } }), await importItem(at, 'several', files)],
    withPan: [
      await importItem(at, 'one-with-pan', { data: { file: 'all.tif', bands }, ...pan }),
      await importItem(at, 'several-with-pan', { ...files, ...pan }),
    ],
  } as const

  const image = async (operation: string, input: object) => {
    const answer = await w.call(token, operation, input)
    assert.equal(answer.status, 200, answer.bytes.toString().slice(0, 300))
    return await pixelsOf(answer.bytes)
  }
  const tile = (input: object) => (item_id: string) => image('items.tile.render', { item_id, ...TILE, format: 'png', ...input })
  const ok = (operation: string, input: object) => (item_id: string) => w.ok(token, operation, { item_id, ...input })
  /** A computed raster; a result that is shown by the item's own tiles has none. */
  const rasterOf = async (raster: { url: string | null } | null) =>
    raster?.url ? await samplesOf(Buffer.from(await (await fetch(raster.url)).arrayBuffer())) : null
  const analytics = (operation: string, params: (item: string) => object) => async (item: string) => {
    const { result, raster } = await w.ok(token, 'analytics.execute', { operation, params: params(item) })
    return { result: without(result, 'item_id', 'item_name', 'id', 'name', 'asset_key'), raster: await rasterOf(raster) }
  }
  const evaluated = (operation: string, input: object) => async (item_id: string) => {
    const { result, image: picture } = await w.ok(token, operation, { item_id, output_format: 'png', max_size: 200, ...input })
    return { result, image: await pixelsOf(Buffer.from(picture.base64, 'base64')) }
  }
  /** The pixels of all outputs, in the order of their keys, or the documents as they are. */
  const outputsOf = async (job: { id: string }) => {
    await w.drain(run)
    const done = (await w.ok(token, 'processing.job.get', { job_id: job.id })).job
    assert.equal(done.status, 'completed', done.error)
    const { summary: _summary, items: _items, ...rest } = done.output_artifacts ?? {}
    const outputs: unknown[] = [without(rest, 'item_id', 'scene_id')]
    for (const item_id of done.output_item_ids)
      for (const asset of await w.ok(token, 'items.list_assets', { item_id })) {
        const { url } = await w.ok(token, 'items.asset.download', { item_id, asset_id: asset.id })
        const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
        const isRaster = asset.media_type.startsWith('image/tiff')
        const isTable = asset.media_type.includes('parquet') // Names the item.
        outputs.push([
          asset.key,
          asset.band_names,
          isRaster ? await samplesOf(bytes) : isTable ? null : without(JSON.parse(asText(bytes)), 'item_id'),
        ])
      }
    return outputs
  }
  const asText = (bytes: Buffer) => (bytes.toString().startsWith('{') ? bytes.toString() : JSON.stringify(bytes.toString()))
  const job = (job_type_id: string, params: (item: string) => object) => async (item: string) =>
    outputsOf(
      (await w.ok(token, 'processing.create_and_dispatch', { project_id: org.projectId, job_type_id, input_params: params(item) })).job,
    )
  const onItem = (job_type_id: string, params: object = {}) => job(job_type_id, (item_id) => ({ item_id, ...params }))
  const collectionOf = async (item_id: string) => {
    const { id } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: `With ${item_id}` })
    await w.ok(token, 'items.update', { item_id, collection_id: id })
    return id as string
  }
  const shared = async (target_id: string) => {
    const expires_at = new Date(w.clock.now().getTime() + 86_400_000).toISOString()
    const link = await w.ok(token, 'share.link.create', { target_type: 'item', target_id, password: PASSWORD, expires_at })
    return { token: link.token as string, password: PASSWORD }
  }
  const tileJsonOf = async (item: string, input: object) =>
    (await w.call(null, 'share.tilejson', { ...(await shared(item)), ...input })).body
  const route = async (path: string) => {
    const answer = await w.request('GET', path, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(answer.status, 200, answer.bytes.toString().slice(0, 300))
    return answer.bytes
  }

  const surfaces: Record<string, (item: string) => Promise<unknown>> = {
    'tiles: default style': tile({}),
    'tiles: bands by name, as WebP': tile({ bands: 'nir,red,green', format: 'webp' }),
    'tiles: bands by number, 512 pixels': tile({ bands: '3,4,2', tile_size: 512 }),
    'tiles: one band with a colormap': tile({ bands: 'red', colormap: 'magma' }),
    'tiles: an expression': tile({ expression: NDVI, colormap: 'rdylgn', rescale: '-1,1' }),
    'tiles: three expressions as JPEG': tile({ expression: 'nir/4000;red/1200;blue/800', rescale: '0,1', format: 'jpg' }),
    'tiles: an index': tile({ profile: 'ndvi' }),
    'tiles: an overview': tile(tileAt(CENTRE.longitude, CENTRE.latitude, 11)),
    'tiles: a saved profile with smooth pixels': async (item_id) => {
      const profile = await w.ok(token, 'visualization.profile.create', {
        item_id,
        name: 'Smooth',
        type: 'rgb',
        config: { bands: [4, 2, 1], resampling: 'cubic' },
      })
      return await tile({ profile: profile.id, ...tileAt(CENTRE.longitude, CENTRE.latitude, 16) })(item_id)
    },
    'XYZ route': async (item) => pixelsOf(await route(`/api/v1/items/${item}/tiles/${TILE.z}/${TILE.x}/${TILE.y}.png?profile=ndvi`)),
    'WMTS tile': (item_id) => image('items.tile.wmts_get_tile', { item_id, ...TILE, format: 'png', profile: 'cir' }),
    'WMTS capabilities': async (item_id) =>
      (await w.call(token, 'items.tile.wmts_capabilities', { item_id, base_url: w.baseUrl })).bytes
        .toString()
        .replaceAll(item_id, 'ITEM')
        .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID'),
    TileJSON: async (item_id) => without(await w.ok(token, 'items.tile.tilejson', { item_id }), 'tiles', 'name'),
    'statistics of an expression': ok('items.tile.statistics', { expression: NDVI, bins: 16 }),
    'statistics of bands': ok('items.tile.statistics', { bands: '1,2,3' }),
    'statistics of an area': ok('items.tile.statistics', { expression: 'red;nir;blue/green', geometry: AREA }),
    'point values': async (item) =>
      without(await ok('items.point', { ...CENTRE, expression: `${NDVI};b1+b2;red` })(item), 'item_id', 'asset_key'),
    'zonal statistics': analytics('zonal_stats', (item_id) => ({
      item_id,
      geometry: AREA,
      index_name: 'ndvi',
      statistics: ['mean', 'count', 'std', 'min', 'max', 'sum'],
      percentiles: [10, 50],
    })),
    'zonal statistics of bands': analytics('zonal_stats', (item_id) => ({ item_id, geometry: AREA, statistics: ['mean', 'count'] })),
    'time series': analytics('time_series', (item) => ({ item_ids: [item, pair.withPan[0]], geometry: AREA, index_name: 'evi' })),
    change: analytics('change_detection', (item) => ({
      before_item_id: pair.withPan[0],
      after_item_id: item,
      geometry: AREA,
      index_name: 'ndvi',
      change_threshold: 0.1,
    })),
    'band math': evaluated('analytics.band_math', { formula: '(nir - red) / (nir + red) + blue' }),
    'an index': evaluated('analytics.calculate_index', { index_name: 'evi' }),
    'an alert': async (item_id) => {
      const rule = { expression: NDVI, comparison: 'gt', threshold: 0 }
      return without(await w.ok(token, 'alerts.test_rule', { item_id, rule }), 'item_id')
    },
    'a layer of a collection': async (item) =>
      image('collections.tile.render', {
        collection_id: await collectionOf(item),
        ...TILE,
        format: 'png',
        expression: NDVI,
        rescale: '-1,1',
      }),
    'TileJSON of a collection': async (item) =>
      without(await w.ok(token, 'collections.tile.tilejson', { collection_id: await collectionOf(item) }), 'tiles', 'name', 'id'),
    'a shared tile': async (item) => image('share.tile.render', { ...(await shared(item)), ...TILE, format: 'png', profile: 'ndvi' }),
    'a shared legend and its styles': async (item) => withoutIds(await tileJsonOf(item, { profile: 'ndvi' })),
    'a shared point': async (item) => (await tileJsonOf(item, { profile: 'ndvi', at: CENTRE })).values,
    'a report': async (item_id) => {
      const { url } = await w.ok(token, 'reports.generate', { report_type: 'item', item_id, format: 'json' })
      const report = (await (await fetch(url)).json()) as { charts: unknown; tables: { title: string }[]; map: unknown }
      return [report.charts, report.tables[0]]
    },
    'job: band math': onItem('band_math', { expression: `${NDVI};blue` }),
    'job: index': onItem('index', { index_name: 'savi' }),
    'job: reproject': onItem('reproject', { epsg: 3857, resampling: 'bilinear' }),
    'job: resample': onItem('resample', { resolution: 30, resampling: 'average' }),
    'job: convert': onItem('cog_convert', { compression: 'deflate' }),
    'job: cloud mask': onItem('cloud_mask', { brightness: 0.05 }),
    'job: zonal statistics': onItem('zonal_stats', {
      zones: { type: 'FeatureCollection', features: [{ type: 'Feature', id: 'a', properties: {}, geometry: AREA }] },
      expression: NDVI,
    }),
    'job: change': job('change_detection', (item) => ({ before_item_id: pair.withPan[0], after_item_id: item, index_name: 'ndvi' })),
    'job: composite': job('composite', (item) => ({ item_ids: [item, pair.withPan[0]], statistic: 'median' })),
    'job: mosaic without clouds': job('mosaic', (item) => ({
      item_ids: [item, pair.withPan[0]],
      method: 'highest_index',
      cloud_aware: true,
    })),
    'job: slope of a band': onItem('slope', { band: 3 }),
    'job: contours of a band': onItem('contour', { band: 4, interval: 200 }),
    'job: polygons of a band': onItem('polygonize', { band: 2, geometry: boxAround(0.0005) }),
    'OGC process': async (item_id) => {
      const answer = await w.post(
        '/processes/band_math/execution',
        { inputs: { project_id: org.projectId, item_id, expression: 'nir-red' } },
        { authorization: `Bearer ${token}`, prefer: 'respond-async' },
      )
      assert.ok([200, 201].includes(answer.status), JSON.stringify(answer.body))
      return await outputsOf({ id: answer.body.jobID ?? answer.body.id })
    },
    'a duplicate': async (item_id) => {
      const { id } = await w.ok(token, 'items.duplicate', { item_id, new_name: 'Copy' })
      return await tile({ expression: NDVI, rescale: '-1,1' })(id)
    },
  }
  for (const [name, surface] of Object.entries(surfaces))
    await t.test(name, async () => {
      const [one, several] = [await surface(pair.plain[0]), await surface(pair.plain[1])]
      assert.deepEqual(several, one)
    })

  await t.test('job: pansharpening leaves out the panchromatic band itself', async () => {
    const sharpen = onItem('pansharpen')
    const [one, several] = [await sharpen(pair.withPan[0]), await sharpen(pair.withPan[1])]
    assert.deepEqual(several, one)
  })

  await t.test('clips keep every band and its meaning', async () => {
    const scaled = (name: string) => ({
      file: `${name}.tif`,
      bands: { 'eo:bands': [{ name }], 'raster:bands': [{ data_type: 'uint16', nodata: 0, scale: 0.0001, offset: -0.1 }] },
    })
    const item = await importItem(at, 'scaled', Object.fromEntries(NAMES.map((name) => [name, scaled(name)])), { platform: 'sentinel-2a' })
    const input = { source_item_id: item, project_id: org.projectId, aoi_geometry: AREA }
    const { id: job_id } = (await w.ok(token, 'clip.create_from_item', input)).job
    await w.drain(run)
    const clip = (await w.ok(token, 'processing.job.get', { job_id })).job.output_item_ids[0]
    const at4326 = { ...CENTRE, expression: NDVI }
    assert.deepEqual(
      without(await w.ok(token, 'items.point', { item_id: clip, ...at4326 }), 'item_id'),
      without(await w.ok(token, 'items.point', { item_id: item, ...at4326 }), 'item_id'),
    )
    const assets = await w.ok(token, 'items.list_assets', { item_id: clip })
    const kept = assets.map(({ key, roles }: { key: string; roles: string[] }) => [key, roles])
    assert.deepEqual(
      kept,
      NAMES.map((name) => [name, ['data', 'reflectance']]),
    )
  })

  await t.test('an external worker gets every file of each input', async () => {
    await w.ok(token, 'processing.create_and_dispatch', {
      project_id: org.projectId,
      job_type_id: 'hillshade',
      input_params: { item_id: pair.plain[1], band: 2 },
    })
    const claimed = await w.post('/workers/claim', {}, { authorization: `Bearer ${WORKER_SECRET}` })
    assert.equal(claimed.status, 200)
    assert.deepEqual(
      claimed.body.inputs.map(({ asset_key, url }: { asset_key: string; url: string }) => [asset_key, url]),
      NAMES.map((name) => [name, host.url(`${name}.tif`)]),
    )
  })
})

// Goal: physical values of a stack are used wherever values have a meaning: legends, cloud detection, indices.
test('scaled bands', async (t) => {
  const host = await fileHost(t)
  const w = await world(t, { egressAllow: [host.host] })
  const org = await w.organization()
  const { token } = org.owner
  const at = { w, org, urlOf: host.url }
  await w.ok(await w.serviceToken(), 'billing.credits.grant', { organization_id: org.id, credits: 1_000, reason: 'for a test' })
  for (const name of NAMES) host.put(`${name}.tif`, await bandFile({ ...SIZE, value: valueOf(name) }))
  const files = (more: object) =>
    Object.fromEntries(NAMES.map((name) => [name, { file: `${name}.tif`, bands: { 'eo:bands': [{ name }], 'raster:bands': [more] } }]))
  const plain = await importItem(at, 'plain', files({}))
  const scaled = await importItem(at, 'scaled', files({ scale: 0.0001, unit: 'reflectance' }))

  await t.test('the legend has physical values and their unit', async () => {
    const legendOf = async (item: string) => {
      const expires_at = new Date(w.clock.now().getTime() + 86_400_000).toISOString()
      const link = await w.ok(token, 'share.link.create', { target_type: 'item', target_id: item, password: PASSWORD, expires_at })
      const config = { bands: [4], colormap: 'viridis' }
      const profile = await w.ok(token, 'visualization.profile.create', { item_id: item, name: 'Red', type: 'singleband', config })
      return (await w.call(null, 'share.tilejson', { token: link.token, password: PASSWORD, profile: profile.id })).body.legend
    }
    const [samples, values] = [await legendOf(plain), await legendOf(scaled)]
    assert.deepEqual([samples.unit, values.unit], [null, 'reflectance'])
    assert.ok(Math.abs(values.high - samples.high * 0.0001) < 1e-9, `${values.high} ${samples.high}`)
  })

  await t.test('clouds are detected by reflectance, scaled once', async () => {
    const masked = async (item_id: string) => {
      const { job } = await w.ok(token, 'processing.create_and_dispatch', {
        project_id: org.projectId,
        job_type_id: 'cloud_mask',
        input_params: { item_id, brightness: 0.05 },
      })
      await w.drain(run)
      const done = (await w.ok(token, 'processing.job.get', { job_id: job.id })).job
      assert.equal(done.status, 'completed', done.error)
      return await tilesOf(w, token, done.output_item_ids[0])
    }
    assert.equal(await masked(scaled), await masked(plain))
  })
})

async function tilesOf(w: World, token: string, item_id: string): Promise<string> {
  const { bytes } = await w.call(token, 'items.tile.render', { item_id, ...TILE, format: 'png' })
  return digest(await sharp(bytes).raw().toBuffer())
}
