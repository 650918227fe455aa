/** Static files of the pages: a fixed list, each built once and sent compressed if the browser supports it. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { problem } from '#core/problem.ts'
import { WORKER_POLICY } from '#http/headers.ts'
import { worldBorders, worldLand, worldNames } from './world.ts'

const own = path.join(import.meta.dirname, 'assets')
const share = path.join(import.meta.dirname, '../../../packages/share')
const packageFile = (name: string) => fileURLToPath(import.meta.resolve(name))
const swagger = path.dirname(packageFile('swagger-ui-dist/package.json'))
const maplibre = path.join(path.dirname(packageFile('maplibre-gl/package.json')), 'dist')

interface Asset {
  type: string
  make(): Promise<string | Buffer>
  headers?: Record<string, string>
}

const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

const file = (type: string, ...at: string[]): Asset => ({ type, make: () => readFile(path.join(...at)) })
/** Types are stripped as Node does for our own source; nothing is bundled. */
const script = (...at: string[]): Asset => ({
  type: SCRIPT,
  make: async () => stripTypeScriptTypes(await readFile(path.join(...at), 'utf8')),
})
/** Read instead of imported, so that the topology does not stay in memory after the map has been built from it. */
const world = (name: string, draw: (topology: Parameters<typeof worldLand>[0]) => object): Asset => ({
  type: 'application/json; charset=utf-8',
  make: async () => JSON.stringify(draw(JSON.parse(await readFile(packageFile(`world-atlas/${name}`), 'utf8')))),
})

/** The complete list: no other path is served. */
const ASSETS: Record<string, Asset> = {
  'swagger-ui.css': file(CSS, swagger, 'swagger-ui.css'),
  'swagger-ui-bundle.js': file(SCRIPT, swagger, 'swagger-ui-bundle.js'),
  'reference.js': file(SCRIPT, own, 'reference.js'),
  'plain-nulls.ts': script(own, 'plain-nulls.ts'),
  'demo-examples.ts': script(own, 'demo-examples.ts'),
  'invite.js': file(SCRIPT, own, 'invite.js'),
  'reference.css': file(CSS, own, 'reference.css'),
  'mailed.js': file(SCRIPT, own, 'mailed.js'),
  'place.js': file(SCRIPT, own, 'place.js'),
  'pages.css': file(CSS, own, 'pages.css'),
  'guides.css': file(CSS, own, 'guides.css'),
  'guides.js': file(SCRIPT, own, 'guides.js'),
  'theme.js': file(SCRIPT, own, 'theme.js'),
  'favicon.svg': file('image/svg+xml', own, 'favicon.svg'),
  'maplibre-gl.mjs': file(SCRIPT, maplibre, 'maplibre-gl.mjs'),
  // A worker has the policy of its own file.
  'maplibre-gl-worker.mjs': { ...file(SCRIPT, maplibre, 'maplibre-gl-worker.mjs'), headers: { 'Content-Security-Policy': WORKER_POLICY } },
  'maplibre-gl.css': file(CSS, maplibre, 'maplibre-gl.css'),
  'world-coarse.json': world('land-110m.json', worldLand),
  'world-land.json': world('land-50m.json', worldLand),
  'world-borders.json': world('countries-50m.json', worldBorders),
  'world-names.json': world('countries-50m.json', worldNames),
  'share.css': file(CSS, share, 'share.css'),
  ...Object.fromEntries(
    [
      'share.ts',
      'share-api.ts',
      'share-map.ts',
      'share-base-map.ts',
      'blended-layer.ts',
      'map-layers.ts',
      'share-layers.ts',
      'share-panel.ts',
      'share-legend.ts',
      'share-compare.ts',
      'share-visit.ts',
      'welcome.ts',
    ].map((name) => [name, script(share, name)]),
  ),
}

/** Cached compressed: nearly every browser requests it so, and it takes a fraction of the memory. */
interface Loaded {
  packed: Buffer
  etag: string
}

export function registerStatic(app: FastifyInstance): void {
  const loaded = new Map<string, Promise<Loaded>>()
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const { name } = request.params
    const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
    if (!asset) throw problem('not-found', 'No such asset')
    if (!loaded.has(name)) loaded.set(name, load(asset))
    const { packed, etag } = await loaded.get(name)!
    // Revalidated each time, usually with a 304, so that no browser keeps an old script after an upgrade.
    reply.headers({ 'Cache-Control': 'no-cache', ETag: etag, Vary: 'Accept-Encoding', ...asset.headers }).type(asset.type)
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(await promisify(gunzip)(packed))
    return reply.header('Content-Encoding', 'gzip').send(packed)
  })
}

async function load(asset: Asset): Promise<Loaded> {
  const body = await asset.make()
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { packed: await promisify(gzip)(body), etag }
}
