// Goal: the base map and the gazetteer that ship with the platform are complete, small, and found by any spelling.
import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { VectorTile } from '@mapbox/vector-tile'
import Fastify from 'fastify'
import { PbfReader } from 'pbf'
import sharp from 'sharp'
import { registerBasemap } from './basemap.ts'
import { createGazetteer } from './gazetteer.ts'

const folder = path.join(import.meta.dirname, 'basemap')
const FILES = ['world.pmtiles', 'relief.pmtiles', 'places.tsv.br']
const MAX_BYTES = 12_000_000

test('the files are at most 12 MB', async () => {
  const sizes = await Promise.all(FILES.map(async (name) => (await stat(path.join(folder, name))).size))
  assert.ok(sizes.reduce((sum, size) => sum + size) <= MAX_BYTES, sizes.join())
})

test('tiles by their place', async () => {
  const app = Fastify()
  registerBasemap(app)
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers })
  // The upper Rhine: Strasbourg, the Black Forest and Lake Constance.
  const near = await get('/assets/basemap/world/6/33/22')
  assert.equal(near.statusCode, 200)
  const { layers } = new VectorTile(new PbfReader(near.rawPayload))
  assert.deepEqual(Object.keys(layers).toSorted(), ['borders', 'lakes', 'land', 'places', 'regions', 'rivers'])
  const names = (layer: string) =>
    Array.from({ length: layers[layer]!.length }, (_, index) => layers[layer]!.feature(index).properties['name'])
  assert.ok(names('places').includes('Zürich'), names('places').join())
  assert.ok(names('rivers').includes('Rhine'), names('rivers').join())
  const packed = await get('/assets/basemap/world/6/33/22', { 'accept-encoding': 'gzip' })
  assert.equal(packed.headers['content-encoding'], 'gzip')
  assert.ok(packed.rawPayload.length < near.rawPayload.length)
  // The Alps have shade, the middle of the Pacific has nothing.
  const relief = await get('/assets/basemap/relief/5/16/11')
  const { channels } = await sharp(relief.rawPayload).stats()
  assert.ok(channels[3]!.max > 100, 'slopes are dark')
  assert.equal((await get('/assets/basemap/world/7/5/70')).statusCode, 204)
  for (const missing of ['world/6/33', 'world/6/33/22/1', 'roads/6/33/22', 'world/a/b/c', '../places.tsv.br'])
    assert.equal((await get(`/assets/basemap/${missing}`)).statusCode, 404, missing)
  await app.close()
})

test('places by the start of any name', async () => {
  const text = brotliDecompressSync(await readFile(path.join(folder, 'places.tsv.br'))).toString('utf8')
  const gazetteer = await createGazetteer(text)
  assert.ok(gazetteer.size >= 30_000, `${gazetteer.size} places`)
  const first = (query: string) => gazetteer.search(query, 1)[0]
  for (const [query, country, name] of [
    ['sao pau', 'BR', 'São Paulo'],
    ['SÃO PAULO', 'BR', 'São Paulo'],
    ['zurich', 'CH', 'Zürich'],
    ['القاهرة', 'EG', 'Cairo'],
    ['ירושלים', 'IL', 'Jerusalem'],
    ['Москва', 'RU', 'Moscow'],
    ['東京', 'JP', 'Tokyo'],
    ['Port Pirie', 'AU', 'Port Pirie'],
  ] as const)
    assert.deepEqual([first(query)?.country, first(query)?.name], [country, name], query)
  assert.equal(first('القاهرة')?.match, 'القاهرة')
  assert.deepEqual(gazetteer.search('', 5), [])
  assert.deepEqual(gazetteer.search('qqqq', 5), [])
  // The largest first, each once, although many have several names that start alike.
  const largest = gazetteer.search('s', 8)
  assert.deepEqual(
    largest.map(({ population }) => population),
    largest.map(({ population }) => population).toSorted((a, b) => b - a),
  )
  assert.equal(new Set(largest.map(({ latitude, longitude }) => `${latitude} ${longitude}`)).size, 8)
})
