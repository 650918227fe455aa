// Goal: public imagery is visible to everyone, rendered from its files; commercial imagery is never rendered; previews and points
// of scenes come from their hosts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { world } from '../../../test/support/world.ts'

const [X, Y] = [2.3, 48.2]

/** The tile that contains the test location. */
function tileAt(z: number): { z: number; x: number; y: number } {
  const n = 2 ** z
  const latitude = (Y * Math.PI) / 180
  return { z, x: Math.floor(((X + 180) / 360) * n), y: Math.floor(((1 - Math.asinh(Math.tan(latitude)) / Math.PI) / 2) * n) }
}

async function meanOf(bytes: Uint8Array): Promise<number[]> {
  const { channels } = await sharp(bytes).stats()
  return channels.map(({ mean }) => mean)
}

test('public imagery', async (t) => {
  const w = await world(t, { vendors: true })
  const { owner } = await w.organization()
  const ok = (id: string, input: object = {}) => w.ok(owner.token, id, input)
  const clearScene = async (host_name: string) => {
    const query = { cloudCoverage: { LTE: 3 } }
    return (await ok('catalog.search', { host_name, bbox: [X, Y, X, Y], datetime: '2025-06-01/2025-07-30', query, limit: 1 })).features[0]
  }

  await t.test('providers and their visualizations', async () => {
    const { providers } = await ok('catalog.providers.list')
    assert.deepEqual(
      providers.map(({ provider }: { provider: string }) => provider),
      ['landsat', 'naip', 'sandbox-dem', 'sentinel'],
    )
    for (const id of ['catalog.viz.landsat', 'catalog.viz.naip']) {
      const { visualizations, default_id, tile_template } = await ok(id)
      assert.ok(visualizations.some((visualization: { id: string }) => visualization.id === default_id))
      assert.ok(visualizations.some((visualization: { id: string }) => visualization.id === 'ndvi'))
      assert.match(tile_template, /\{scene_id\}.*\{z\}/)
    }
    const { samples, total } = await ok('catalog.provider.samples', { provider: 'landsat', limit: 2 })
    assert.equal(samples.length, 2)
    assert.ok(total > 2 && samples.every(({ cloud_cover }: { cloud_cover: number }) => cloud_cover <= 10))
    assert.equal((await w.call(owner.token, 'catalog.provider.samples', { provider: 'sandbox-vhr' })).status, 404)
  })

  await t.test('a tile without a credential, by POST and by URL, with an ETag', async () => {
    const { visualizations, tile_template } = await ok('catalog.viz.landsat')
    assert.ok(visualizations.length > 3)
    const scene = await clearScene('sandbox-landsat')
    const tile = tileAt(12)
    const posted = await w.call(null, 'catalog.tile.render', {
      collection: 'landsat',
      scene_id: scene.id,
      visualization: 'rgb',
      ...tile,
      format: 'png',
    })
    assert.equal(posted.status, 200, posted.bytes.toString())
    const [red, green, blue, alpha] = await meanOf(posted.bytes)
    assert.ok(red! > 15 && green! > 15 && blue! > 10 && (alpha ?? 255) === 255, `${red} ${green} ${blue} ${alpha}`)
    const url = Object.entries({ ...tile, scene_id: scene.id, visualization: 'rgb' })
      .reduce((text, [name, value]) => text.replace(`{${name}}`, String(value)), tile_template as string)
      .replace('.webp', '.png')
    const got = await w.request('GET', url.slice(w.baseUrl.length))
    assert.equal(got.status, 200)
    assert.deepEqual(got.bytes, posted.bytes)
    assert.match(got.headers.get('cache-control')!, /immutable/)
    const again = await w.request('GET', url.slice(w.baseUrl.length), { headers: { 'if-none-match': got.headers.get('etag')! } })
    assert.equal(again.status, 304)
    const large = await w.request('GET', url.slice(w.baseUrl.length).replace('.png', '@2x.png'))
    assert.deepEqual([large.status, (await sharp(large.bytes).metadata()).width], [200, 512])
    const bySize = await w.request('GET', `${url.slice(w.baseUrl.length)}&tile_size=512`)
    assert.deepEqual(bySize.bytes, large.bytes)
    assert.equal((await w.request('GET', `${url.slice(w.baseUrl.length)}&tile_size=300`)).status, 422)
    for (const [parameter, hint] of [
      ['colormap_name=viridis', "did you mean 'colormap'?"],
      ['expresion=b1', "did you mean 'expression'?"],
      ['anything=1', '; use visualization, provider'],
    ] as const) {
      const { status, body } = await w.request('GET', `${url.slice(w.baseUrl.length)}&${parameter}`)
      assert.equal(status, 400, parameter)
      assert.ok(body.detail.includes(hint), body.detail)
    }
    assert.equal((await w.request('GET', `${url.slice(w.baseUrl.length)}&_=1`)).status, 200, 'map clients add it to bypass caches')
    const quicklook = `/api/v1/catalog/sandbox-landsat/${scene.id}/quicklook`
    const bearer = { headers: { authorization: `Bearer ${owner.token}` } }
    assert.equal((await w.request('GET', `${quicklook}?width=100`, bearer)).status, 400)
    assert.equal((await w.request('GET', quicklook, bearer)).status, 200)
    const index = await w.call(null, 'catalog.tile.render', {
      collection: 'landsat',
      scene_id: scene.id,
      visualization: 'ndvi',
      ...tile,
      format: 'png',
    })
    assert.equal(index.status, 200)
    assert.notDeepEqual(index.bytes, posted.bytes)
  })

  await t.test('commercial, unknown and invalid requests are not rendered', async () => {
    const scene = (await ok('catalog.search', { host_name: 'sandbox-vhr', bbox: [X, Y, X, Y], datetime: '2025-06-12' })).features[0]
    const draw = (input: object) =>
      w.call(null, 'catalog.tile.render', { scene_id: scene.id, visualization: 'rgb', ...tileAt(14), format: 'png', ...input })
    for (const collection of ['sandbox-vhr', 'sandbox-hr', 'nothing', 'landsat'])
      assert.equal((await draw({ collection })).status, 404, collection)
    const open = await clearScene('sandbox-landsat')
    assert.equal((await draw({ collection: 'landsat', scene_id: open.id, visualization: 'smell' })).status, 422)
    assert.equal((await draw({ collection: 'landsat', scene_id: open.id, z: 3, x: 9 })).status, 422)
    assert.equal((await draw({ collection: 'landsat', scene_id: open.id, visualization: 'rgb', colormap: 'viridis' })).status, 422)
  })

  await t.test('bands, bounds and statistics of a scene', async () => {
    const scene = await clearScene('sandbox-naip')
    const info = await ok('catalog.info.naip', { scene_id: scene.id })
    assert.deepEqual(
      info.bands.map(({ role }: { role: string }) => role),
      ['RED', 'GREEN', 'BLUE', 'NIR'],
    )
    const [west, south, east, north] = info.bounds
    assert.ok(west < X && east > X && south < Y && north > Y)
    assert.equal(info.data_type, 'uint8')
    assert.ok(info.statistics.length === 4 && info.statistics[0].mean > 10)
    assert.deepEqual(await ok('catalog.info.sample', { provider: 'naip', scene_id: scene.id }), info)
    assert.equal((await w.call(owner.token, 'catalog.info.landsat', { scene_id: scene.id })).status, 404)
    assert.equal((await w.call(owner.token, 'catalog.info.sentinel', { scene_id: 'nothing' })).status, 404)
  })

  await t.test('previews of any scene, ordered or not, by POST and by URL', async () => {
    const scene = await clearScene('sandbox-vhr')
    const thumbnail = await w.call(owner.token, 'catalog.image.thumbnail', { host_name: 'sandbox-vhr', image_id: scene.id })
    assert.equal(thumbnail.headers.get('content-type'), 'image/png')
    const quicklook = await w.call(owner.token, 'catalog.image.quicklook', { host_name: 'sandbox-vhr', image_id: scene.id })
    assert.ok(((await sharp(quicklook.bytes).metadata()).width ?? 0) > ((await sharp(thumbnail.bytes).metadata()).width ?? 0))
    const { href } = scene.links.find(({ rel }: { rel: string }) => rel === 'thumbnail')
    const headers = { authorization: `Bearer ${owner.token}` }
    const got = await w.request('GET', href.slice(w.baseUrl.length), { headers })
    assert.deepEqual(got.bytes, thumbnail.bytes)
    const etag = got.headers.get('etag')!
    assert.equal((await w.request('GET', href.slice(w.baseUrl.length), { headers: { ...headers, 'if-none-match': etag } })).status, 304)
    assert.equal((await w.request('GET', href.slice(w.baseUrl.length))).status, 401)
  })

  await t.test('points of a granule: within the bounding box and polygon, subsampled evenly', async () => {
    const bbox = [2, 44, 3, 46]
    const { features } = await ok('catalog.search', { host_name: 'sandbox-altimetry', bbox, datetime: '2025-06-12/2025-06-13', limit: 1 })
    const { href } = features[0].assets.points
    const input = { collection: 'sandbox-altimetry', href, bbox: features[0].bbox }
    const all = await ok('catalog.granule_points', input)
    assert.ok(all.count > 1_000 && all.returned === all.count && !all.subsampled)
    assert.ok(all.points.every(([x, y, value]: number[]) => x! >= input.bbox[0] && y! <= input.bbox[3] && value! >= all.value_range[0]))
    const few = await ok('catalog.granule_points', { ...input, max_points: 100 })
    assert.ok(few.subsampled && few.returned <= 100 && few.returned > 40 && few.count === all.count)
    const [west, south, east] = input.bbox
    // prettier-ignore
    const half = { type: 'Polygon', coordinates: [[[west, south], [east, south], [east, south + 2], [west, south + 2], [west, south]]] }
    const clipped = await ok('catalog.granule_points', { ...input, clip_polygon: half })
    assert.ok(clipped.count > 0 && clipped.points.every(([, y]: number[]) => y! <= south + 2))
    const refused = (more: object) => w.call(owner.token, 'catalog.granule_points', { ...input, ...more })
    assert.equal((await refused({ href: 'https://elsewhere.example/1.ndjson' })).status, 400)
    assert.equal((await refused({ collection: 'nothing' })).status, 404)
    assert.equal((await refused({ collection: 'sandbox-open' })).status, 422)
  })

  await t.test('sources and vendors', async () => {
    const { sources } = await ok('catalog.sources.list', { data_type: 'dem' })
    assert.deepEqual(
      sources.map(({ id }: { id: string }) => id),
      ['sandbox-dem'],
    )
    const { vendors } = await ok('catalog.vendors.list')
    const vhr = vendors.find(({ host_name }: { host_name: string }) => host_name === 'sandbox-vhr')
    assert.deepEqual([vhr.is_priced, vhr.can_task], [true, true])
    assert.equal((await ok('catalog.sources.list', { country: 'au', scope: 'global' })).sources.length, vendors.length)
  })
})
