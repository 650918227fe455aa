/** Files that pages need: the list is fixed, read once, and sent as small as the browser takes them. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { problem } from '#core/problem.ts'

const own = path.join(import.meta.dirname, 'assets')
const swagger = path.dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')))

/** Served from the package or from beside this file; the whole list, so that no path can be made up. */
const ASSETS: Record<string, { file: string; type: string }> = {
  'swagger-ui.css': { file: path.join(swagger, 'swagger-ui.css'), type: 'text/css; charset=utf-8' },
  'swagger-ui-bundle.js': { file: path.join(swagger, 'swagger-ui-bundle.js'), type: 'text/javascript; charset=utf-8' },
  'reference.js': { file: path.join(own, 'reference.js'), type: 'text/javascript; charset=utf-8' },
  'reference.css': { file: path.join(own, 'reference.css'), type: 'text/css; charset=utf-8' },
  'pages.css': { file: path.join(own, 'pages.css'), type: 'text/css; charset=utf-8' },
  'favicon.svg': { file: path.join(own, 'favicon.svg'), type: 'image/svg+xml' },
}

interface Loaded {
  body: Buffer
  packed: Buffer
  etag: string
}

export function registerStatic(app: FastifyInstance): void {
  const loaded = new Map<string, Promise<Loaded>>()
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const { name } = request.params
    const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
    if (!asset) throw problem('not-found', 'No such asset')
    if (!loaded.has(name)) loaded.set(name, load(asset.file))
    const { body, packed, etag } = await loaded.get(name)!
    // Asked for again each time, and answered with 304: after an upgrade nobody sees yesterday's script.
    reply.headers({ 'Cache-Control': 'no-cache', ETag: etag, Vary: 'Accept-Encoding' }).type(asset.type)
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(body)
    return reply.header('Content-Encoding', 'gzip').send(packed)
  })
}

async function load(file: string): Promise<Loaded> {
  const body = await readFile(file)
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { body, packed: await promisify(gzip)(body), etag }
}
