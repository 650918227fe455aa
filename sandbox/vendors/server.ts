/** The simulated hosts as one HTTP server on loopback, each under its own name, with the protocols of docs/adr/0022-vendors.md. */
import { createReadStream } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Clock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import { LoadingCache } from '#raster/cache.ts'
import type { SceneDescription, SensorId } from '../scenes/index.ts'
import { granuleLines, granuleOf } from './altimetry.ts'
import { openSceneRenderer, type SceneRenderer } from './scene-renderer.ts'
import { featureOf } from './feature.ts'
import { faultOf } from './faults.ts'
import { granuleFeature, searchGranules } from './granules.ts'
import { HOSTS, VENDOR_KEY, type SandboxHost } from './hosts.ts'
import { Library } from './library.ts'
import { rangeOf } from './range.ts'
import { parseSearch, Refusal, tokenOf, type ParsedSearch, type SearchBody } from './search.ts'
import { opportunitiesOf } from './opportunities.ts'
import { Shop } from './shop.ts'
import { createSchema } from './store.ts'
import { virtualCog, type VirtualCog } from './virtual-cog.ts'

interface SandboxVendorsOptions {
  readonly db: Db
  readonly host: string
  readonly port: number
  readonly clock: Clock
  /** Folder for rendered files. */
  readonly workDir: string
  readonly deliverySeconds: number
}

export interface SandboxVendors {
  readonly url: string
  close(): Promise<void>
}

const BODY_LIMIT_BYTES = 4 * 1024 * 1024
const PICTURE_PX = { thumbnail: 160, overview: 512 } as const
const COG_CACHE_BYTES = 8 * 1024 * 1024
/** A scene is computed from its id alone, so what was once read never changes. */
const FOREVER = 'public, max-age=31536000, immutable'

export async function startSandboxVendors(options: SandboxVendorsOptions): Promise<SandboxVendors> {
  await createSchema(options.db)
  const sceneRenderer = openSceneRenderer(options.workDir)
  const app = fastify({ forceCloseConnections: true, bodyLimit: BODY_LIMIT_BYTES, routerOptions: { maxParamLength: 300 } })
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Refusal ? error.status : ((error as { statusCode?: number }).statusCode ?? 500)
    const code = status === 404 ? 'not_found' : status < 500 ? 'refused' : 'failed'
    void reply.status(status).send({ error: { code, message: status < 500 ? (error as Error).message : 'Internal error' } })
  })
  const stop = new AbortController()
  for (const host of HOSTS)
    await app.register(async (scope) => serveHost(scope, host, { ...options, sceneRenderer, stopping: stop.signal }), {
      prefix: `/${host.name}`,
    })
  await app.listen({ host: options.host, port: options.port })
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://${options.host}:${port}`,
    async close() {
      stop.abort()
      await app.close()
      await sceneRenderer.close()
    },
  }
}

interface HostParts extends SandboxVendorsOptions {
  readonly sceneRenderer: SceneRenderer
  readonly stopping: AbortSignal
}

type Params = { Params: { id: string; kind?: string; file?: string } }

function serveHost(app: FastifyInstance, host: SandboxHost, parts: HostParts): void {
  const base = (request: FastifyRequest) => `http://${request.headers.host}/${host.name}`
  if (host.sensor === null) return serveGranules(app, host, base, parts)
  const library = new Library(host as SandboxHost & { sensor: SensorId }, () => parts.clock.now())
  const isShop = Object.keys(host.prices).length > 0
  if (isShop) app.addHook('onRequest', requireKey)
  app.post<{ Body: SearchBody }>('/search', async (request, reply) => {
    const query = parseSearch(request.body ?? {})
    if (host.isFlaky && (await misbehave(query.ids ?? [], reply, parts.stopping))) return reply
    return await search(host, base(request), library, query)
  })
  const sceneOf = (id: string): SceneDescription => {
    const scene = library.scene(id)
    if (!scene) throw new Refusal('No such scene', 404)
    return scene
  }
  const sendFeature = async (request: FastifyRequest<Params>) => featureOf(host, base(request), sceneOf(request.params.id))
  app.get<Params>('/scenes/:id', async (request, reply) => {
    if (host.isFlaky && (await misbehave([request.params.id], reply, parts.stopping))) return reply
    return await sendFeature(request)
  })
  for (const kind of ['thumbnail', 'overview'] as const)
    app.get<Params>(`/scenes/:id/${kind}`, async (request, reply) => {
      const bytes = await parts.sceneRenderer.picture(sceneOf(request.params.id), PICTURE_PX[kind])
      return reply.type('image/png').header('cache-control', FOREVER).send(Buffer.from(bytes))
    })
  if (isShop)
    return serveShop(
      app,
      host,
      new Shop({ ...parts, host, library, now: () => parts.clock.now(), stepSeconds: () => parts.deliverySeconds }),
      parts,
    )
  serveStac(app, host, base)
  app.get<Params>(`/collections/${host.name}/items/:id`, sendFeature)
  serveFiles(app, sceneOf, parts.sceneRenderer)
}

async function requireKey(request: FastifyRequest): Promise<void> {
  if (request.headers.authorization !== `Bearer ${VENDOR_KEY}`) throw new Refusal('Unknown API key', 401)
}

async function search(host: SandboxHost, base: string, library: Library, query: ParsedSearch): Promise<object> {
  const isOurs = query.collections === null || query.collections.includes(host.name)
  const { scenes, next } = isOurs ? await library.search(query) : { scenes: [], next: null }
  return collectionOf(
    scenes.map((scene) => featureOf(host, base, scene)),
    next && { href: `${base}/search`, token: tokenOf(next) },
  )
}

function collectionOf(features: readonly object[], next: { href: string; token: string } | null): object {
  return {
    type: 'FeatureCollection',
    features,
    numberReturned: features.length,
    links: next ? [{ rel: 'next', href: next.href, method: 'POST', merge: true, body: { token: next.token } }] : [],
  }
}

function serveStac(app: FastifyInstance, host: SandboxHost, base: (request: FastifyRequest) => string): void {
  const collection = (address: string) => ({
    type: 'Collection',
    stac_version: '1.0.0',
    id: host.name,
    title: host.title,
    description: host.description,
    license: 'CC0-1.0',
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    links: [{ rel: 'self', href: `${address}/collections/${host.name}` }],
  })
  app.get('/', async (request) => ({
    type: 'Catalog',
    stac_version: '1.0.0',
    id: host.name,
    description: host.description,
    conformsTo: ['https://api.stacspec.org/v1.0.0/core', 'https://api.stacspec.org/v1.0.0/item-search'],
    links: [{ rel: 'search', href: `${base(request)}/search`, method: 'POST', type: 'application/geo+json' }],
  }))
  app.get('/collections', async (request) => ({ collections: [collection(base(request))], links: [] }))
  app.get(`/collections/${host.name}`, async (request) => collection(base(request)))
}

/** COGs whose blocks are computed only when read. */
function serveFiles(app: FastifyInstance, sceneOf: (id: string) => SceneDescription, sceneRenderer: SceneRenderer): void {
  const cogs = new LoadingCache<VirtualCog>({ maxBytes: COG_CACHE_BYTES, sizeOf: () => 400_000 })
  app.get<Params>('/files/:file', async (request, reply) => {
    const scene = sceneOf(request.params.file!.replace(/\.tif$/, ''))
    const cog = await cogs.get(scene.id, async () => virtualCog(scene))
    const range = rangeOf(request.headers.range, cog.byteLength)
    reply.header('etag', `"${scene.id}"`).header('accept-ranges', 'bytes').header('cache-control', FOREVER).type('image/tiff')
    if (range === 'unsatisfiable') return reply.status(416).header('content-range', `bytes */${cog.byteLength}`).send()
    const { first, last } = range ?? { first: 0, last: cog.byteLength - 1 }
    if (range) reply.status(206).header('content-range', `bytes ${first}-${last}/${cog.byteLength}`)
    reply.header('content-length', last - first + 1)
    const gone = new AbortController()
    reply.raw.on('close', () => gone.abort())
    return reply.send(
      Readable.from(
        cog.read(first, last, (block) => sceneRenderer.block(scene, block, gone.signal)),
        { objectMode: false },
      ),
    )
  })
}

function serveShop(app: FastifyInstance, host: SandboxHost, shop: Shop, { stopping }: HostParts): void {
  type Body = { Body: Record<string, unknown> }
  app.post<Body>('/prices', async ({ body }) => shop.prices(body['items']))
  app.post<Body>('/orders', async ({ body }, reply) => {
    const scenes = (body['captures'] as { scene_id?: unknown }[] | undefined)?.map(({ scene_id }) => String(scene_id)) ?? []
    if (host.isFlaky && (await misbehave(scenes, reply, stopping))) return reply
    return await shop.placeOrder(body)
  })
  app.get<{ Querystring: { reference?: string } }>('/orders', async ({ query }) => await shop.ordersOf(String(query.reference)))
  app.get<Params>('/orders/:id', async ({ params }) => await shop.order(params.id))
  app.post<Params>('/orders/:id/cancel', async ({ params }) => await shop.cancelOrder(params.id))
  app.get<Params>('/orders/:id/files/:file', async (request, reply) => {
    const { path, byteLength, isHalf } = await shop.file(request.params.id, request.params.file!)
    const range = rangeOf(request.headers.range, byteLength)
    if (range === 'unsatisfiable') return reply.status(416).header('content-range', `bytes */${byteLength}`).send()
    const { first, last } = range ?? { first: 0, last: byteLength - 1 }
    if (range) reply.status(206).header('content-range', `bytes ${first}-${last}/${byteLength}`)
    reply.header('content-length', last - first + 1).type('image/tiff')
    const bytes = createReadStream(path, { start: first, end: last })
    return reply.send(isHalf ? Readable.from(halfOf(bytes, byteLength), { objectMode: false }) : bytes)
  })
  app.post<Body>('/studies', async ({ body }) => await shop.requestStudy(body))
  app.get<Params>('/studies/:id', async ({ params }) => await shop.study(params.id))
  app.post<Body>('/quotations', async ({ body }) => await shop.requestQuotation(body))
  app.get<Params>('/quotations/:id', async ({ params }) => await shop.quotation(params.id))
  app.post<Body>('/opportunities', async ({ body }) => await opportunitiesOf(body))
}

/** Fails halfway, like a lost connection. */
async function* halfOf(bytes: AsyncIterable<Buffer>, byteLength: number): AsyncGenerator<Buffer> {
  let sent = 0
  for await (const chunk of bytes) {
    if (sent + chunk.length > byteLength / 2) throw new Error('Connection lost')
    sent += chunk.length
    yield chunk
  }
}

const HANG_MS = 120_000

/** Fails, hangs or lies if a scene id says so; returns whether it has responded. */
async function misbehave(ids: readonly string[], reply: FastifyReply, stopping: AbortSignal): Promise<boolean> {
  const fault = ids.map(faultOf).find((each) => each !== null)
  if (fault === 'fail-502') void reply.status(502).send({ error: { code: 'failed', message: 'Simulated failure' } })
  else if (fault === 'lies') void reply.send({ type: 'FeatureCollection', features: 'plenty', id: 7, status: 'perhaps' })
  else if (fault === 'timeout') {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, HANG_MS)
      const end = () => {
        clearTimeout(timer)
        resolve()
      }
      reply.raw.on('close', end)
      stopping.addEventListener('abort', end, { once: true })
    })
    void reply.status(504).send({ error: { code: 'failed', message: 'Too late' } })
  } else return false
  return true
}

function serveGranules(app: FastifyInstance, host: SandboxHost, base: (request: FastifyRequest) => string, { clock }: HostParts): void {
  serveStac(app, host, base)
  app.post<{ Body: SearchBody }>('/search', async (request) => {
    const query = parseSearch(request.body ?? {})
    const { granules, next } = searchGranules(query, clock.now())
    return collectionOf(
      granules.map((granule) => granuleFeature(host, base(request), granule)),
      next && { href: `${base(request)}/search`, token: tokenOf(next) },
    )
  })
  const find = (id: string) => {
    const granule = granuleOf(id)
    if (!granule || new Date(granule.datetime) > clock.now()) throw new Refusal('No such granule', 404)
    return granule
  }
  app.get<Params>(`/collections/${host.name}/items/:id`, async (request) => granuleFeature(host, base(request), find(request.params.id)))
  app.get<Params>('/points/:file', async (request, reply) => {
    const granule = find(request.params.file!.replace(/\.ndjson$/, ''))
    return reply.type('application/x-ndjson').send(Readable.from(granuleLines(granule), { objectMode: false }))
  })
}
