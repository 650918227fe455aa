/**
 * A server of the STAPI standard, version 0.1.0, on loopback, with the satellites and scenes of the sandbox: one product for areas and
 * one for points, orders that are delivered as STAC items behind signed links at another host. The test decides what goes wrong.
 */
import { createHash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { areaBounds } from '#core/area.ts'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { squareAround } from '#core/overlay.ts'
import { cropOf, describeScene, type SceneDescription } from '../../scenes/index.ts'
import { opportunitiesOf } from '../opportunities.ts'
import { openSceneRenderer, type SceneRenderer } from '../scene-renderer.ts'
import { listen } from '../listen.ts'
import { sendFile } from '../send-file.ts'

interface StapiOptions {
  readonly clock: Clock
  /** Folder for rendered files. */
  readonly workDir: string
  /** Duration of each state of an order. */
  readonly stepSeconds?: number
  readonly key?: string
}

/** What goes wrong next. Counters count down. */
interface StapiFaults {
  /** Orders that are placed, and answered with 502. */
  lostPlacements: number
  /** Requests that are answered with 401, whatever their key. */
  refusedKeys: number
  /** Orders that are refused because of the account's quota. */
  overQuota: number
  /** Signed links that have expired when they are opened. */
  expiredLinks: number
  /** Transfers that end halfway. */
  brokenTransfers: number
  /** Requests that are answered with 429. */
  limited: number
  /** Instead of the code of orders. */
  status: string | null
  /** Added to the stated size of files. */
  extraBytes: number
  hasWrongChecksum: boolean
  /** Delivers an image of another place. */
  isElsewhere: boolean
  /** Searches only asynchronously. */
  isAsync: boolean
  /** Drops the milliseconds of times, as a server may. */
  isCoarse: boolean
  /** Answers a placement with the URL of the order alone. */
  isTerse: boolean
}

interface PlacedOrder {
  readonly id: string
  readonly product: string
  readonly createdAt: Date
  readonly body: Body
  cancelledAt: Date | null
}

export interface SimulatedStapi {
  /** Base URL of the API. */
  readonly url: string
  /** `host:port` of the API and of the signed links. */
  readonly hosts: { readonly api: string; readonly files: string }
  readonly key: string
  readonly faults: StapiFaults
  readonly orders: readonly PlacedOrder[]
  /** Pages of orders that were read. */
  pagesRead(): number
  /** Headers that the host of the signed links received. */
  readonly fileHeaders: readonly Record<string, unknown>[]
  /** The file of an order, as it is delivered. */
  file(orderId: string): Promise<{ path: string; byteLength: number }>
  close(): Promise<void>
}

type Body = Record<string, unknown>
type Shape = AreaGeometry | { type: 'Point'; coordinates: [number, number] }

const PREFIX = '/stapi'
const VERSION = '0.1.0'
const SENSOR = 'sandbox-hr'
const VIEW_PX = 512
const MAX_FILE_PX = 4_000_000
const POINT_SIDE_KM = 1
const LINK_SECONDS = 600
const MAX_LIMIT = 100
const stapiClass = (name: string) => `https://stapi.example.com/v${VERSION}/${name}`
const geometryClass = (type: string) => `https://geojson.org/schema/${type}.json`

const PRODUCTS: Readonly<Record<string, readonly string[]>> = {
  'Area:Standard': ['Polygon', 'MultiPolygon'],
  'Spot:Standard': ['Point'],
}
const STEPS = ['received', 'accepted', 'scheduled', 'tasked', 'processing', 'completed'] as const

/** `{detail}`, as the standard's own server reports errors. */
class Refused extends Error {
  readonly status: number
  constructor(status: number, detail: string) {
    super(detail)
    this.status = status
  }
}

export async function startStapi(options: StapiOptions): Promise<SimulatedStapi> {
  const simulator = new Simulator(options)
  const app = fastify({ forceCloseConnections: true })
  // Signed links are at another host, which must never see the key.
  const files = fastify({ forceCloseConnections: true })
  guard(app, simulator)
  serveProducts(app, simulator)
  serveOpportunities(app, simulator)
  serveOrders(app, simulator)
  serveFiles(files, simulator)
  const hosts = { api: await listen(app), files: await listen(files) }
  simulator.url = `http://${hosts.api}${PREFIX}`
  simulator.filesHost = hosts.files
  const { key, faults, orders, fileHeaders, url } = simulator
  return {
    url,
    hosts,
    key,
    faults,
    orders,
    pagesRead: () => simulator.pagesRead,
    fileHeaders,
    file: async (orderId) => await simulator.renderer.file(simulator.sceneOf(simulator.order(orderId))),
    async close() {
      await app.close()
      await files.close()
      await simulator.renderer.close()
    },
  }
}

type Counter = 'lostPlacements' | 'refusedKeys' | 'overQuota' | 'expiredLinks' | 'brokenTransfers' | 'limited'

/** Orders, and what goes wrong. */
class Simulator {
  readonly clock: Clock
  readonly key: string
  readonly renderer: SceneRenderer
  readonly faults: StapiFaults = {
    lostPlacements: 0,
    refusedKeys: 0,
    overQuota: 0,
    expiredLinks: 0,
    brokenTransfers: 0,
    limited: 0,
    status: null,
    extraBytes: 0,
    hasWrongChecksum: false,
    isElsewhere: false,
    isAsync: false,
    isCoarse: false,
    isTerse: false,
  }
  readonly orders: PlacedOrder[] = []
  readonly searches = new Map<string, { product: string; body: Body }>()
  readonly fileHeaders: Record<string, unknown>[] = []
  readonly links = new Map<string, { orderId: string; expiresAt: number }>()
  readonly #stepSeconds: number
  pagesRead = 0
  url = ''
  filesHost = ''

  constructor({ clock, workDir, stepSeconds = 60, key = 'stapi-key-of-a-test-0001' }: StapiOptions) {
    this.clock = clock
    this.key = key
    this.#stepSeconds = stepSeconds
    this.renderer = openSceneRenderer(workDir)
  }

  /** Whether this fault is due; each is counted down. */
  take(name: Counter): boolean {
    if (this.faults[name] <= 0) return false
    this.faults[name]--
    return true
  }

  order(id: string): PlacedOrder {
    const order = this.orders.find((each) => each.id === id)
    if (!order) throw new Refused(404, 'Order not found')
    return order
  }

  /** A new image of the area, taken when the window begins. */
  sceneOf({ id, body }: PlacedOrder): SceneDescription {
    const shape = body['geometry'] as Shape
    const area = shape.type === 'Point' ? squareAround(shape.coordinates, POINT_SIDE_KM) : shape
    const [west, south, east, north] = areaBounds(area)
    const datetime = `${String(body['datetime']).slice(0, 10)}T10:30:00Z`
    const [longitude, latitude] = [(west + east) / 2, (south + north) / 2]
    const view = describeScene({ sensor: SENSOR, longitude, latitude, datetime, sizePx: VIEW_PX, id: `stapi_${id}` })
    if (!this.faults.isElsewhere) return cropOf(view, area, { maxPx: MAX_FILE_PX, isBounded: false })
    const other = squareAround([longitude + 1, latitude], POINT_SIDE_KM)
    return cropOf(
      describeScene({ sensor: SENSOR, longitude: longitude + 1, latitude, datetime, sizePx: VIEW_PX, id: `stapi_${id}` }),
      other,
      { maxPx: MAX_FILE_PX, isBounded: false },
    )
  }

  place(product: string, body: Body): PlacedOrder {
    requireSearch(product, body)
    if (typeof body['order_parameters'] !== 'object') throw new Refused(422, 'order_parameters: Field required')
    if (this.take('overQuota')) throw new Refused(403, 'Budget exceeded: the quota of this contract is used up')
    const order = { id: randomUUID(), product, createdAt: this.clock.now(), body, cancelledAt: null }
    this.orders.push(order)
    return order
  }

  stepOf({ createdAt }: PlacedOrder): number {
    return Math.min(STEPS.length - 1, Math.floor((this.clock.now().getTime() - createdAt.getTime()) / 1000 / this.#stepSeconds))
  }

  /** The code follows from the time since the order; the last one needs the file. */
  async view(order: PlacedOrder) {
    const { faults } = this
    const step = this.stepOf(order)
    const isMade = step === STEPS.length - 1 && (await this.renderer.fileSoon(this.sceneOf(order))) !== null
    const reached = step === STEPS.length - 1 && !isMade ? step - 1 : step
    const code = faults.status ?? (order.cancelledAt ? 'user_cancelled' : STEPS[reached]!)
    const self = `${this.url}/orders/${order.id}`
    const { datetime, geometry, filter } = order.body
    const window = faults.isCoarse ? String(datetime).replaceAll(/\.\d+/g, '') : datetime
    return {
      id: order.id,
      type: 'Feature',
      stapi_type: 'Order',
      stapi_version: VERSION,
      geometry,
      properties: {
        product_id: order.product,
        created: order.createdAt.toISOString(),
        status: {
          timestamp: this.clock.now().toISOString(),
          status_code: code,
          links: code === 'completed' ? [{ rel: 'item', href: `${self}/item`, type: 'application/geo+json' }] : [],
        },
        search_parameters: { datetime: window, geometry, filter: filter ?? null },
        opportunity_properties: { datetime: window, product_id: order.product },
        order_parameters: order.body['order_parameters'],
      },
      links: [
        { rel: 'self', href: self, type: 'application/geo+json' },
        { rel: 'monitor', href: `${self}/statuses`, type: 'application/json' },
        ...(code === 'received' ? [{ rel: 'cancel', href: `${self}/cancel`, type: 'application/json', method: 'POST' }] : []),
      ],
    }
  }

  async item(order: PlacedOrder) {
    const scene = this.sceneOf(order)
    const { path, byteLength } = await this.renderer.file(scene)
    const signature = randomUUID()
    this.links.set(signature, { orderId: order.id, expiresAt: this.clock.now().getTime() + LINK_SECONDS * 1000 })
    const sha256 = createHash('sha256').update(await readFile(path))
    const digest = this.faults.hasWrongChecksum ? '0'.repeat(64) : sha256.digest('hex')
    return {
      type: 'Feature',
      stac_version: '1.0.0',
      id: scene.id,
      geometry: scene.footprint,
      bbox: areaBounds(scene.footprint as unknown as AreaGeometry),
      properties: { datetime: scene.datetime, 'eo:cloud_cover': scene.cloudCover, gsd: scene.gsdM, platform: 'sandbox-1' },
      links: [],
      assets: {
        image: {
          href: `http://${this.filesHost}/files/${order.id}.tif?signature=${signature}`,
          type: 'image/tiff; application=geotiff; profile=cloud-optimized',
          roles: ['data'],
          'file:size': byteLength + this.faults.extraBytes,
          'file:checksum': `1220${digest}`,
        },
        thumbnail: { href: `http://${this.filesHost}/files/${order.id}.png`, type: 'image/png', roles: ['thumbnail'] },
      },
    }
  }

  async passes({ product, body }: { product: string; body: Body }) {
    const [from, to] = requireSearch(product, body)
    const limit = limitOf(body['limit'])
    const start = Number(body['next'] ?? 0)
    const { opportunities } = (await opportunitiesOf({ from, to, area: body['geometry'], ...angleOf(body['filter']) })) as {
      opportunities: { start: string; end: string; satellite: string; off_nadir_deg: number; sun_elevation_deg: number }[]
    }
    const href = `${this.url}/products/${product}/opportunities`
    const { datetime, geometry, filter } = body
    return {
      type: 'FeatureCollection',
      features: opportunities.slice(start, start + limit).map((pass) => ({
        type: 'Feature',
        geometry,
        properties: {
          datetime: `${pass.start}/${pass.end}`,
          product_id: product,
          platform: pass.satellite,
          'view:off_nadir': pass.off_nadir_deg,
          'view:sun_elevation': pass.sun_elevation_deg,
        },
        links: [],
      })),
      links: [
        {
          rel: 'create-order',
          href: `${this.url}/products/${product}/orders`,
          method: 'POST',
          body: { datetime, geometry, filter: filter ?? null },
        },
        ...(start + limit < opportunities.length
          ? [{ rel: 'next', href, type: 'application/json', method: 'POST', body: { ...body, limit, next: String(start + limit) } }]
          : []),
      ],
    }
  }
}

/** The window of a valid search. */
function requireSearch(product: string, { datetime, geometry }: Body): [from: string, to: string] {
  const types = PRODUCTS[product]
  if (!types) throw new Refused(404, 'Product not found')
  const [from, to] = String(datetime).split('/') as [string, string?]
  if (to === undefined || Number.isNaN(Date.parse(from)) || !(Date.parse(to) > Date.parse(from)))
    throw new Refused(422, 'datetime: end before start')
  const { type } = (geometry ?? {}) as { type?: string }
  if (!type || !types.includes(type)) throw new Refused(422, `geometry: this product accepts ${types.join(' and ')}`)
  return [from, to]
}

function limitOf(limit: unknown): number {
  const value = Number(limit ?? 10)
  if (!(value >= 1)) throw new Refused(422, 'limit: must be at least 1')
  return Math.min(value, MAX_LIMIT)
}

function angleOf(filter: unknown): object {
  if (filter === null || filter === undefined) return {}
  const { op, args } = filter as { op?: unknown; args?: [{ property?: string }, number] }
  if (op !== '<=' || args?.[0].property !== 'view:off_nadir') throw new Refused(422, 'filter: only view:off_nadir can be limited')
  return { max_off_nadir_deg: args[1] }
}

/** Errors and the key of the account. */
function guard(app: FastifyInstance, simulator: Simulator): void {
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Refused ? error.status : ((error as { statusCode?: number }).statusCode ?? 500)
    void reply.status(status).send({ detail: error instanceof Refused ? error.message : 'Internal error' })
  })
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (simulator.take('limited')) return await reply.status(429).header('retry-after', '1').send({ detail: 'Too many requests' })
    if (simulator.take('refusedKeys') || request.headers.authorization !== `Bearer ${simulator.key}`) throw new Refused(401, 'Unauthorized')
    return undefined
  })
}

function serveProducts(app: FastifyInstance, simulator: Simulator): void {
  const rootClasses = [stapiClass('core'), stapiClass('order-statuses')]
  const productOf = (id: string) => {
    const types = PRODUCTS[id]
    if (!types) throw new Refused(404, 'Product not found')
    const url = `${simulator.url}/products/${id}`
    const link = (rel: string, path: string) => ({ rel, href: `${url}${path}`, type: 'application/json' })
    return {
      type: 'Collection',
      stapi_type: 'Product',
      stapi_version: VERSION,
      id,
      conformsTo: [stapiClass('opportunities'), ...types.map(geometryClass)],
      title: id,
      description: 'New images of the simulated Earth',
      license: 'proprietary',
      links: [
        link('self', ''),
        link('conformance', '/conformance'),
        link('queryables', '/queryables'),
        link('order-parameters', '/order-parameters'),
        link('opportunities', '/opportunities'),
        { ...link('create-order', '/orders'), method: 'POST' },
      ],
    }
  }
  app.get(PREFIX, async () => ({
    id: 'simulated',
    conformsTo: rootClasses,
    links: ['conformance', 'products', 'orders'].map((rel) => ({ rel, href: `${simulator.url}/${rel}`, type: 'application/json' })),
  }))
  app.get(`${PREFIX}/conformance`, async () => ({ conformsTo: rootClasses }))
  app.get(`${PREFIX}/products`, async ({ query }) => {
    const { limit, next = '0' } = query as { limit?: string; next?: string }
    const [start, ids] = [Number(next), Object.keys(PRODUCTS)]
    const end = start + limitOf(limit)
    const more = end < ids.length ? [{ rel: 'next', href: `${simulator.url}/products?limit=${end - start}&next=${end}` }] : []
    return { type: 'ProductCollection', products: ids.slice(start, end).map(productOf), links: more }
  })
  type One = { Params: { id: string } }
  app.get<One>(`${PREFIX}/products/:id`, async ({ params }) => productOf(params.id))
  app.get<One>(`${PREFIX}/products/:id/conformance`, async ({ params }) => ({ conformsTo: productOf(params.id).conformsTo }))
  const angle = { type: 'number', minimum: 0, maximum: 45 }
  app.get<One>(`${PREFIX}/products/:id/queryables`, async () => ({ type: 'object', properties: { 'view:off_nadir': angle } }))
  const priority = { type: 'string', enum: ['standard', 'priority'] }
  app.get<One>(`${PREFIX}/products/:id/order-parameters`, async () => ({ type: 'object', properties: { priority } }))
}

function serveOpportunities(app: FastifyInstance, simulator: Simulator): void {
  type One = { Params: { id: string }; Body: Body }
  const record = (id: string, status_code: string) => {
    const { product, body } = simulator.searches.get(id) ?? {}
    if (!product) throw new Refused(404, 'Search not found')
    const self = { rel: 'self', href: `${simulator.url}/searches/opportunities/${id}` }
    const result = { rel: 'opportunities', href: `${simulator.url}/products/${product}/opportunities/${id}` }
    return {
      id,
      product_id: product,
      opportunity_request: body,
      status: { timestamp: simulator.clock.now().toISOString(), status_code, links: [] },
      links: status_code === 'completed' ? [self, result] : [self],
    }
  }
  app.post<One>(`${PREFIX}/products/:id/opportunities`, async ({ params, body, headers }, reply) => {
    if (!simulator.faults.isAsync) {
      if (headers['prefer'] === 'wait') reply.header('preference-applied', 'wait')
      return await simulator.passes({ product: params.id, body })
    }
    requireSearch(params.id, body)
    const id = randomUUID()
    simulator.searches.set(id, { product: params.id, body })
    return reply.status(201).header('location', `${simulator.url}/searches/opportunities/${id}`).send(record(id, 'received'))
  })
  app.get<One>(`${PREFIX}/searches/opportunities/:id`, async ({ params }) => record(params.id, 'completed'))
  app.get<{ Params: { search: string } }>(`${PREFIX}/products/:id/opportunities/:search`, async ({ params }) => {
    const search = simulator.searches.get(params.search)
    if (!search) throw new Refused(404, 'Opportunity Collection not found')
    return { ...(await simulator.passes(search)), id: params.search }
  })
}

function serveOrders(app: FastifyInstance, simulator: Simulator): void {
  type One = { Params: { id: string }; Body: Body }
  app.post<One>(`${PREFIX}/products/:id/orders`, async ({ params, body }, reply) => {
    const order = simulator.place(params.id, body)
    if (simulator.take('lostPlacements')) return reply.status(502).send({ detail: 'Bad gateway' })
    reply.status(201).header('location', `${simulator.url}/orders/${order.id}`)
    return simulator.faults.isTerse ? reply.send() : reply.send(await simulator.view(order))
  })
  app.get(`${PREFIX}/orders`, async ({ query }) => {
    simulator.pagesRead++
    const { limit, next = '0' } = query as { limit?: string; next?: string }
    const start = Number(next)
    const end = start + limitOf(limit)
    const features = await Promise.all(simulator.orders.slice(start, end).map((order) => simulator.view(order)))
    const more = end < simulator.orders.length ? [{ rel: 'next', href: `${simulator.url}/orders?limit=${end - start}&next=${end}` }] : []
    return { type: 'FeatureCollection', features, links: more }
  })
  app.get<One>(`${PREFIX}/orders/:id`, async ({ params }) => await simulator.view(simulator.order(params.id)))
  app.get<One>(`${PREFIX}/orders/:id/statuses`, async ({ params }) => ({
    statuses: [(await simulator.view(simulator.order(params.id))).properties.status],
    links: [{ rel: 'self', href: `${simulator.url}/orders/${params.id}/statuses` }],
  }))
  app.get<One>(`${PREFIX}/orders/:id/item`, async ({ params }) => await simulator.item(simulator.order(params.id)))
  app.post<One>(`${PREFIX}/orders/:id/cancel`, async ({ params }) => {
    const order = simulator.order(params.id)
    if (simulator.stepOf(order) > 0) throw new Refused(409, 'The order has been accepted')
    order.cancelledAt ??= simulator.clock.now()
    return await simulator.view(order)
  })
}

function serveFiles(files: FastifyInstance, simulator: Simulator): void {
  const { links, clock, fileHeaders, renderer } = simulator
  files.addHook('onRequest', async ({ headers }) => void fileHeaders.push({ ...headers }))
  files.get<{ Querystring: { signature?: string } }>('/files/:file', async (request, reply) => {
    const link = links.get(String(request.query.signature))
    if (!link || link.expiresAt < clock.now().getTime() || simulator.take('expiredLinks')) return await reply.status(403).send('Expired')
    const content = await renderer.file(simulator.sceneOf(simulator.order(link.orderId)))
    return await sendFile(request, reply, { content, type: 'image/tiff', isBroken: simulator.take('brokenTransfers') })
  })
}
