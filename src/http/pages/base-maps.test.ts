// Goal: an operator's base maps are read through the service: their keys never leave it, nothing private can be reached, responses
// are bounded and checked, and no page may ask another host.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import Fastify, { type FastifyError } from 'fastify'
import sharp from 'sharp'
import { createBaseMaps } from '#adapters/base-maps/base-maps.ts'
import type { BaseMapSetting } from '#core/base-maps.ts'
import { sendError } from '#http/errors.ts'
import { testClock, world } from '../../../test/support/world.ts'
import { registerBaseMaps } from './base-maps.ts'

const KEY = 'k3y-of-the-operator'
const WORLD = path.join(import.meta.dirname, 'basemap/world.pmtiles')

type Responses = Record<string, { status?: number; body: Buffer | string; headers?: Record<string, string> }>

/** A host of map tiles, whose responses the test decides, by path. */
async function mapHost(t: TestContext, responses: Responses) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const found = responses[new URL(request.url!, 'http://host').pathname]
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    if (!found) return void response.writeHead(404).end()
    const body = Buffer.from(found.body)
    const part = range ? body.subarray(Number(range[1]), Number(range[2]) + 1) : body
    response.writeHead(found.status ?? (range ? 206 : 200), found.headers ?? {}).end(part)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { asked, host, url: `http://${host}`, responses }
}

async function service(t: TestContext, maps: readonly BaseMapSetting[], egressAllow: readonly string[]) {
  const clock = testClock('2030-01-01T00:00:00.000Z')
  const baseMaps = createBaseMaps({ maps, clock, egressAllow })
  const app = Fastify()
  app.setErrorHandler((error, _request, reply) => void sendError({ baseUrl: () => 'http://here' } as never, error as FastifyError, reply))
  registerBaseMaps(app, { baseMaps })
  t.after(async () => {
    await app.close()
    await baseMaps.close()
  })
  const seen: string[] = []
  return {
    clock,
    /** Everything that left the service. */
    seen,
    async get(url: string) {
      const reply = await app.inject({ method: 'GET', url })
      seen.push(JSON.stringify(reply.headers), reply.payload)
      return reply
    },
  }
}

const setting = (kind: BaseMapSetting['kind'], location: string, attribution = ''): BaseMapSetting => ({
  id: 'streets',
  name: 'Streets',
  kind,
  location,
  attribution,
})

const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#336699' } })
  .png()
  .toBuffer()

test('a template of raster tiles', async (t) => {
  const host = await mapHost(t, {
    '/0/0/0.png': { body: png },
    '/3/5/2.png': { body: png },
    '/4/1/1.png': { body: '<script>alert(1)</script>' },
  })
  const { get, seen } = await service(t, [setting('raster', `${host.url}/{z}/{x}/{y}.png?key=${KEY}`, '© Example maps')], [host.host])
  assert.deepEqual((await get('/assets/maps')).json(), { maps: [{ id: 'streets', name: 'Streets' }] })
  const style = (await get('/assets/maps/streets/style')).json()
  assert.deepEqual(style.sources.s0.tiles, ['/assets/maps/streets/tiles/s0/{z}/{x}/{y}'])
  assert.equal(style.attribution, '© Example maps')
  const tile = await get('/assets/maps/streets/tiles/s0/3/5/2')
  assert.deepEqual([tile.statusCode, tile.headers['content-type']], [200, 'image/png'])
  assert.deepEqual(tile.rawPayload, png)
  await get('/assets/maps/streets/tiles/s0/3/5/2')
  assert.equal(host.asked.filter((url) => url === `/3/5/2.png?key=${KEY}`).length, 1, 'asked once, with the key')
  assert.equal((await get('/assets/maps/streets/tiles/s0/3/6/2')).statusCode, 204)
  const page = await get('/assets/maps/streets/tiles/s0/4/1/1')
  assert.equal(page.statusCode, 502, 'a page is not a tile')
  for (const wrong of ['s0/3/8/2', 's0/25/0/0', 's0/3/5', 's0/3/5/2/1', 's0/a/b/c', 's0/3/../../..'])
    assert.equal((await get(`/assets/maps/streets/tiles/${wrong}`)).statusCode, 404, wrong)
  assert.equal((await get('/assets/maps/streets/tiles/s9/3/5/2')).statusCode, 204)
  assert.equal((await get('/assets/maps/satellite/style')).statusCode, 404)
  assert.ok(!seen.join().includes(KEY), 'the key stays here')
  assert.ok(!seen.join().includes(host.host), 'so does the address')
})

test('a MapLibre style: addresses are replaced, labels and icons are kept', async (t) => {
  const vector = Buffer.from([0x1a, 0x02, 0x78, 0x02])
  const responses: Responses = {
    '/tiles.json': { body: '' },
    '/v/2/1/1.pbf': { body: gzipSync(vector), headers: { 'content-encoding': 'gzip' } },
    '/sprite@2x.json': { body: '{"star":{"x":0,"y":0,"width":8,"height":8,"pixelRatio":2}}' },
    '/sprite@2x.png': { body: png },
    '/places.json': { body: '{"type":"FeatureCollection","features":[]}' },
  }
  const host = await mapHost(t, responses)
  responses['/tiles.json'] = {
    body: JSON.stringify({
      tiles: [`${host.url}/v/{z}/{x}/{y}.pbf?key=${KEY}`],
      maxzoom: 14,
      attribution: '<a href="javascript:alert(1)">&copy; Example</a> <b>contributors</b>',
    }),
  }
  responses['/style.json'] = {
    body: JSON.stringify({
      version: 8,
      glyphs: `${host.url}/fonts/{fontstack}/{range}.pbf?key=${KEY}`,
      sprite: `${host.url}/sprite?key=${KEY}`,
      sources: {
        omt: { type: 'vector', url: `tiles.json?key=${KEY}` },
        places: { type: 'geojson', data: `/places.json?key=${KEY}` },
        film: { type: 'video', urls: [`${host.url}/film.mp4`] },
      },
      layers: [
        { id: 'ground', type: 'background', paint: { 'background-color': '#fff' } },
        { id: 'roads', type: 'line', source: 'omt', 'source-layer': 'transportation', paint: { 'line-color': '#888' } },
        { id: 'stars', type: 'symbol', source: 'places', layout: { 'icon-image': 'star', 'text-field': ['get', 'name'] } },
        { id: 'film', type: 'raster', source: 'film' },
      ],
    }),
  }
  const { get, seen } = await service(t, [setting('style', `${host.url}/style.json?key=${KEY}`)], [host.host])
  const style = (await get('/assets/maps/streets/style')).json()
  assert.deepEqual(
    style.layers.map(({ id, type, source }: Record<string, string>) => [id, type, source]),
    [
      ['base-0', 'background', undefined],
      ['base-1', 'line', 's0'],
      ['base-2', 'symbol', 's1'],
    ],
  )
  assert.deepEqual(style.sources.s0, { type: 'vector', tiles: ['/assets/maps/streets/tiles/s0/{z}/{x}/{y}'], maxzoom: 14 })
  assert.equal(style.sources.s1.data, '/assets/maps/streets/data/s1')
  assert.equal(style.attribution, '© Example contributors')
  const tile = await get('/assets/maps/streets/tiles/s0/2/1/1')
  assert.equal(tile.headers['content-type'], 'application/vnd.mapbox-vector-tile')
  assert.deepEqual(tile.rawPayload, vector, 'unpacked')
  assert.equal((await get('/assets/maps/streets/data/s1')).json().type, 'FeatureCollection')
  assert.ok((await get(`${style.sprites[0].url}@2x.json`)).json().star)
  assert.equal((await get(`${style.sprites[0].url}@2x.png`)).headers['content-type'], 'image/png')
  assert.equal((await get(`${style.sprites[0].url}.svg`)).statusCode, 404)
  assert.ok(!seen.join().includes(KEY) && !seen.join().includes(host.host))
})

test('a PMTiles archive, as a file and at another host, is drawn in both themes', async (t) => {
  const { readFile } = await import('node:fs/promises')
  const host = await mapHost(t, { '/world.pmtiles': { body: await readFile(WORLD) } })
  for (const location of [WORLD, `${host.url}/world.pmtiles?key=${KEY}`]) {
    const { get, seen } = await service(t, [setting('pmtiles', location)], [host.host])
    const [light, dark] = [await get('/assets/maps/streets/style'), await get('/assets/maps/streets/style?theme=dark')]
    assert.notDeepEqual(light.json().layers, dark.json().layers)
    assert.ok(light.json().layers.some((layer: Record<string, string>) => layer['source-layer'] === 'places' && layer['type'] === 'symbol'))
    const tile = await get('/assets/maps/streets/tiles/s0/6/33/22')
    assert.deepEqual([tile.statusCode, tile.headers['content-type']], [200, 'application/vnd.mapbox-vector-tile'])
    assert.ok(tile.rawPayload.length > 1_000)
    assert.ok(!seen.join().includes(KEY) && !seen.join().includes(location))
  }
})

test('what cannot be used is told without its address, and asked again later', async (t) => {
  const host = await mapHost(t, { '/0/0/0.png': { status: 403, body: 'wrong key' } })
  const map = setting('raster', `${host.url}/{z}/{x}/{y}.png?key=${KEY}`, 'Example')
  const { get, seen, clock } = await service(t, [map], [host.host])
  const refused = await get('/assets/maps/streets/style')
  assert.equal(refused.statusCode, 502)
  assert.equal(refused.json().detail, "The base map 'Streets' cannot be used: it responds with HTTP 403")
  await get('/assets/maps/streets/style')
  assert.equal(host.asked.length, 1, 'not asked by every user')
  host.responses['/0/0/0.png'] = { body: png }
  clock.advance({ minutes: 1 })
  assert.equal((await get('/assets/maps/streets/style')).statusCode, 200)
  assert.ok(!seen.join().includes(KEY))
})

test('private addresses, other schemes, redirects to them and large responses are refused', async (t) => {
  const responses: Responses = { '/0/0/0.png': { body: png } }
  const host = await mapHost(t, responses)
  const detail = async (location: string, kind: BaseMapSetting['kind'], allow: readonly string[]) => {
    const { get } = await service(t, [setting(kind, location, 'Example')], allow)
    const reply = await get('/assets/maps/streets/style')
    assert.equal(reply.statusCode, 502, location)
    return reply.json().detail.split(': ')[1] as string
  }
  assert.equal(await detail(`${host.url}/{z}/{x}/{y}.png`, 'raster', []), 'Only https URLs are allowed')
  assert.equal(await detail(`https://127.0.0.1/{z}/{x}/{y}.png`, 'raster', []), 'The host is not on the public internet')
  assert.equal(await detail(`https://169.254.169.254/style.json`, 'style', []), 'The host is not on the public internet')
  const styleOf = (source: object) => ({ body: JSON.stringify({ version: 8, sources: { a: source }, layers: [] }) })
  responses['/inner.json'] = styleOf({ type: 'vector', url: 'http://127.0.0.1:1/tiles.json' })
  assert.equal(await detail(`${host.url}/inner.json`, 'style', [host.host]), 'Only https URLs are allowed')
  responses['/file.json'] = styleOf({ type: 'vector', url: 'file:///etc/passwd' })
  assert.equal(await detail(`${host.url}/file.json`, 'style', [host.host]), 'it names an address that is not http or https')
  responses['/archive.json'] = styleOf({ type: 'vector', url: 'pmtiles:///etc/passwd' })
  assert.match(await detail(`${host.url}/archive.json`, 'style', [host.host]), /HTTP 404|archive|read/)
  responses['/0/0/0.moved'] = { status: 302, body: '', headers: { location: 'http://169.254.169.254/latest' } }
  assert.equal(await detail(`${host.url}/{z}/{x}/{y}.moved`, 'raster', [host.host]), 'Only https URLs are allowed')
  responses['/0/0/0.large'] = { body: Buffer.alloc(6_000_000, 1) }
  assert.equal(await detail(`${host.url}/{z}/{x}/{y}.large`, 'raster', [host.host]), 'The response has more than 5000000 bytes')
  responses['/0/0/0.bomb'] = { body: gzipSync(Buffer.alloc(20_000_000)) }
  assert.equal(await detail(`${host.url}/{z}/{x}/{y}.bomb`, 'raster', [host.host]), 'it responds with data that cannot be unpacked')
  responses['/many.json'] = {
    body: JSON.stringify({ version: 8, sources: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, {}])), layers: [] }),
  }
  assert.equal(await detail(`${host.url}/many.json`, 'style', [host.host]), 'it has 21 sources; the maximum is 20')
})

test('pages ask no other host, and other sites cannot use the maps', async (t) => {
  const host = await mapHost(t, { '/0/0/0.png': { body: png } })
  const maps = [setting('raster', `${host.url}/{z}/{x}/{y}.png?key=${KEY}`, 'Example')]
  const w = await world(t, { baseMaps: maps, egressAllow: [host.host] })
  const plain = await world(t)
  for (const page of ['/s/any', '/welcome', '/docs']) {
    const [set, unset] = [await w.request('GET', page), await plain.request('GET', page)]
    const policy = set.headers.get('content-security-policy')!
    assert.equal(policy, unset.headers.get('content-security-policy'), page)
    assert.ok(!policy.includes(host.host))
  }
  assert.equal((await w.request('GET', '/assets/maps/streets/style')).status, 200)
  const tile = await w.request('GET', '/assets/maps/streets/tiles/s0/0/0/0')
  assert.equal(tile.headers.get('cross-origin-resource-policy'), 'same-origin')
  assert.equal(tile.headers.get('access-control-allow-origin'), null)
  assert.equal(tile.headers.get('x-content-type-options'), 'nosniff')
  assert.deepEqual((await plain.request('GET', '/assets/maps')).body, { maps: [] })
})
