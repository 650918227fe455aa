/**
 * SkyFi's API as its OpenAPI document 2.0.0 describes it, on loopback, with the scenes of the sandbox: search by WKT, one archive or one
 * new image per order, deliverables behind signed links at another host. The test decides what goes wrong.
 */
import { randomUUID } from 'node:crypto'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { sqKmOf } from '#core/area.ts'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { convexRing, polygonWkt, readWkt } from '#core/wkt.ts'
import { cropOf, type SceneDescription } from '../../scenes/index.ts'
import { HOSTS } from '../hosts.ts'
import { Library, sharedArea } from '../library.ts'
import { openSceneRenderer, type SceneRenderer } from '../scene-renderer.ts'
import { invalid, Refused } from '../refused.ts'
import { listen } from '../listen.ts'
import { sendFile } from '../send-file.ts'
import { imageOf, serveFeasibility, taskingFields, TASKING_RATE, type TaskingFields } from './tasking.ts'

interface SkyfiOptions {
  readonly clock: Clock
  /** Folder for rendered files. */
  readonly workDir: string
  /** Duration of each state of an order. */
  readonly stepSeconds?: number
  readonly key?: string
}

/** What goes wrong next. Counters count down. */
interface SkyfiFaults {
  /** Orders that are placed, and answered with 502. */
  lostPlacements: number
  /** Requests that are answered with 401, whatever their key. */
  refusedKeys: number
  /** Orders that are refused because of the account's budget. */
  overBudget: number
  /** Signed links that have expired when they are opened. */
  expiredLinks: number
  /** Transfers that end halfway. */
  brokenTransfers: number
  /** Requests that are answered with 429. */
  limited: number
  /** Instead of the state of orders. */
  status: string | null
  /** What orders cost, as a multiple of what they should. */
  chargeFactor: number
  /** The area that orders state, as a multiple of their own. */
  areaFactor: number
  /** Added to the stated size of files. */
  extraBytes: number
  /** Added to the price of scenes and passes when one is asked for. */
  extraCentsPerSqKm: number
  /** Instead of the state of studies. */
  studyStatus: string | null
  /** No satellite passes. */
  hasNoPasses: boolean
}

interface PlacedOrder {
  readonly id: string
  readonly createdAt: Date
  readonly aoi: string
  /** Null for a new image. */
  readonly archiveId: string | null
  readonly tasking: TaskingFields | null
  readonly metadata: Record<string, unknown> | null
  readonly label: string
  readonly orderLabel: string
  readonly webhookUrl: string | null
}

/** One request and its response, to be compared with the vendor's OpenAPI document. */
export interface Exchange {
  readonly method: string
  /** As in the document: `/orders/{order_id}`. */
  readonly route: string
  readonly query: Readonly<Record<string, unknown>>
  readonly request: unknown
  readonly status: number
  readonly response: unknown
}

export interface SimulatedSkyfi {
  /** Base URL of the API. */
  readonly url: string
  /** `host:port` of the API and of the signed links. */
  readonly hosts: { readonly api: string; readonly files: string }
  readonly key: string
  readonly faults: SkyfiFaults
  readonly orders: readonly PlacedOrder[]
  readonly exchanges: readonly Exchange[]
  /** Headers that the host of the signed links received. */
  readonly fileHeaders: readonly Record<string, unknown>[]
  /** The file of an order, as it is delivered. */
  file(orderId: string): Promise<{ path: string; byteLength: number }>
  close(): Promise<void>
}

const PREFIX = '/platform-api'
const HEADER = 'x-skyfi-api-key'
const SENSOR = 'sandbox-hr'
const CENTS_PER_SQ_KM = 450
const MIN_SQ_KM = 1
const MAX_SQ_KM = 400
const DELIVERY_HOURS = 12
const MAX_VERTICES = 500
const MAX_SEARCH_SQ_KM = 500_000
const MAX_FILE_PX = 16_000_000
const LINK_SECONDS = 600
const MAX_EXCHANGES = 2_000
const EDGES = [
  'CREATED',
  'STARTED',
  'PROVIDER_PENDING',
  'PROVIDER_COMPLETE',
  'PROCESSING_PENDING',
  'INTERNAL_IMAGE_PROCESSING_PENDING',
  'PROCESSING_COMPLETE',
  'DELIVERY_PENDING',
  'DELIVERY_COMPLETED',
] as const

export async function startSkyfi(options: SkyfiOptions): Promise<SimulatedSkyfi> {
  const simulator = new Simulator(options)
  const app = fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 300 } })
  // Signed links are at another host, which must never see the key.
  const files = fastify({ forceCloseConnections: true })
  guard(app, simulator)
  serveAccount(app)
  serveArchives(app, simulator)
  serveOrders(app, simulator)
  serveFeasibility(app, PREFIX, simulator)
  serveFiles(files, simulator)
  const hosts = { api: await listen(app), files: await listen(files) }
  simulator.filesHost = hosts.files
  const { key, faults, orders, exchanges, fileHeaders } = simulator
  return {
    url: `http://${hosts.api}${PREFIX}`,
    hosts,
    key,
    faults,
    orders,
    exchanges,
    fileHeaders,
    file: async (orderId) => await simulator.fileOf(simulator.order(orderId)),
    async close() {
      await app.close()
      await files.close()
      await simulator.renderer.close()
    },
  }
}

type Counter = 'lostPlacements' | 'refusedKeys' | 'overBudget' | 'expiredLinks' | 'brokenTransfers' | 'limited'

/** Archives and orders, and what goes wrong. */
class Simulator {
  readonly clock: Clock
  readonly key: string
  readonly renderer: SceneRenderer
  readonly faults: SkyfiFaults = {
    lostPlacements: 0,
    refusedKeys: 0,
    overBudget: 0,
    expiredLinks: 0,
    brokenTransfers: 0,
    limited: 0,
    status: null,
    chargeFactor: 1,
    areaFactor: 1,
    extraBytes: 0,
    extraCentsPerSqKm: 0,
    studyStatus: null,
    hasNoPasses: false,
  }
  readonly orders: PlacedOrder[] = []
  readonly exchanges: Exchange[] = []
  readonly fileHeaders: Record<string, unknown>[] = []
  readonly links = new Map<string, { orderId: string; expiresAt: number }>()
  readonly library: Library
  readonly stepSeconds: number
  filesHost = ''

  constructor({ clock, workDir, stepSeconds = 60, key = 'skyfi-key-of-a-test-0001' }: SkyfiOptions) {
    this.clock = clock
    this.key = key
    this.stepSeconds = stepSeconds
    this.renderer = openSceneRenderer(workDir)
    this.library = new Library({ ...HOSTS.find(({ name }) => name === SENSOR)!, name: 'skyfi', sensor: SENSOR }, () => clock.now())
  }

  /** Whether this fault is due; each is counted down. */
  take(name: Counter): boolean {
    if (this.faults[name] <= 0) return false
    this.faults[name]--
    return true
  }

  scene(id: string): SceneDescription {
    const scene = this.library.scene(id)
    if (!scene) throw new Refused(404, 'Archive not found')
    return scene
  }

  order(id: string): PlacedOrder {
    const order = this.orders.find((each) => each.id === id)
    if (!order) throw new Refused(404, 'Order not found')
    return order
  }

  fileOf(order: PlacedOrder): ReturnType<SceneRenderer['file']> {
    return this.renderer.file(this.#shownIn(order))
  }

  #shownIn({ id, aoi, archiveId, tasking }: PlacedOrder): SceneDescription {
    const area = readWkt(aoi)!
    if (archiveId === null) return imageOf({ id, area, fields: tasking!, sensor: SENSOR, maxPx: MAX_FILE_PX })
    const scene = this.scene(archiveId)
    return cropOf(scene, sharedArea(scene, area) ?? area, { maxPx: MAX_FILE_PX })
  }

  archive(scene: SceneDescription) {
    const sqKm = sqKmOf(scene.footprint as unknown as AreaGeometry)
    const cents = CENTS_PER_SQ_KM + this.faults.extraCentsPerSqKm
    return {
      archiveId: scene.id,
      provider: 'PLANET',
      constellation: 'SKYSAT',
      productType: 'MULTISPECTRAL',
      platformResolution: scene.gsdM * 100,
      resolution: 'HIGH',
      captureTimestamp: scene.datetime.replace('Z', '+00:00'),
      cloudCoveragePercent: scene.cloudCover,
      offNadirAngle: scene.offNadirDeg,
      footprint: wktOf(scene.footprint as unknown as AreaGeometry),
      minSqKm: MIN_SQ_KM,
      maxSqKm: MAX_SQ_KM,
      priceForOneSquareKm: cents / 100,
      priceForOneSquareKmCents: cents,
      priceFullScene: (sqKm * cents) / 100,
      openData: false,
      totalAreaSquareKm: sqKm,
      deliveryTimeHours: DELIVERY_HOURS,
      thumbnailUrls: { '300x300': `http://${this.filesHost}/thumbnails/${scene.id}.png` },
      gsd: scene.gsdM,
      tilesUrl: null,
    }
  }

  /** The state follows from the time since the order; the last one needs the file. */
  async view(order: PlacedOrder) {
    const { faults, clock } = this
    const km2 = sqKmOf(readWkt(order.aoi)!)
    const last = EDGES.length - 1
    const step = Math.min(last, Math.floor((clock.now().getTime() - order.createdAt.getTime()) / 1000 / this.stepSeconds))
    const rate = order.tasking ? TASKING_RATE : CENTS_PER_SQ_KM
    const file = step === last ? await this.renderer.fileSoon(this.#shownIn(order)) : null
    const reached = file || step < last ? step : step - 1
    const link = (kind: string) => (file ? `${PREFIX}/orders/${order.id}/${kind}` : null)
    return {
      aoi: order.aoi,
      deliveryDriver: 'NONE',
      deliveryParams: null,
      label: order.label,
      orderLabel: order.orderLabel,
      metadata: order.metadata,
      webhookUrl: order.webhookUrl,
      ...(order.archiveId === null ? order.tasking : { archiveId: order.archiveId, archive: this.archive(this.scene(order.archiveId)) }),
      id: order.id,
      orderType: order.archiveId === null ? 'TASKING' : 'ARCHIVE',
      orderCost: Math.round(Math.max(km2, MIN_SQ_KM) * rate * faults.chargeFactor),
      ownerId: OWNER.id,
      status: faults.status ?? EDGES[reached]!,
      aoiSqkm: km2 * faults.areaFactor,
      tilesUrl: null,
      downloadImageUrl: link('image'),
      downloadPayloadUrl: link('payload'),
      downloadCogUrl: link('cog'),
      payloadSize: null,
      cogSize: file ? file.byteLength + faults.extraBytes : null,
      orderCode: order.id.slice(0, 8),
      geocodeLocation: null,
      createdAt: order.createdAt.toISOString(),
      orderId: order.id,
      itemId: order.id,
      deliverableId: null,
      events: EDGES.slice(0, reached + 1).map((state, index) => ({
        status: state,
        timestamp: new Date(order.createdAt.getTime() + index * this.stepSeconds * 1000).toISOString(),
        message: null,
      })),
    }
  }

  async search(body: Record<string, unknown>, offset: number) {
    const aoi = requireAoi(body['aoi'])
    const km2 = sqKmOf(aoi)
    if (km2 > MAX_SEARCH_SQ_KM) throw invalid('aoi', `Area must be at most ${MAX_SEARCH_SQ_KM} sqkm`)
    const size = Number(body['pageSize'] ?? 100)
    if (!Number.isInteger(size) || size < 1 || size > 100) throw invalid('pageSize', 'Input should be from 1 to 100')
    const types = body['productTypes'] as string[] | undefined
    const cloud = body['maxCloudCoveragePercent'] as number | undefined
    const dateOf = (name: string) => (body[name] === undefined ? null : new Date(String(body[name])))
    const accepts = (cover: number | null) => cloud === undefined || (cover !== null && cover <= cloud)
    const dates = { from: dateOf('fromDate'), to: dateOf('toDate') }
    const isOffered = !types || types.includes('MULTISPECTRAL')
    const found = isOffered ? await this.library.search({ intersects: aoi, ...dates, accepts, limit: offset + size + 1 }) : null
    const scenes = found?.scenes ?? []
    const next = Buffer.from(JSON.stringify({ body, offset: offset + size })).toString('base64url')
    return {
      request: { ...body, pageNumber: null, pageSize: size },
      archives: scenes.slice(offset, offset + size).map((scene) => {
        const shared = sharedArea(scene, aoi)
        const overlapSqkm = shared ? sqKmOf(shared) : 0
        return { ...this.archive(scene), overlapRatio: Math.min(1, overlapSqkm / km2), overlapSqkm }
      }),
      nextPage: scenes.length > offset + size ? `https://app.skyfi.com${PREFIX}/archives?page=${next}` : null,
      total: null,
    }
  }

  placeArchive(body: Record<string, unknown>): PlacedOrder {
    const aoi = requireAoi(body['aoi'])
    const scene = this.scene(String(body['archiveId']))
    if (!sharedArea(scene, aoi)) throw invalid('aoi', 'The AOI does not intersect the archive')
    if (sqKmOf(aoi) > MAX_SQ_KM) throw invalid('aoi', 'The AOI is too large for this archive')
    return this.#place(body, { archiveId: scene.id, tasking: null })
  }

  placeTasking(body: Record<string, unknown>): PlacedOrder {
    requireAoi(body['aoi'])
    return this.#place(body, { archiveId: null, tasking: taskingFields(body) })
  }

  #place(body: Record<string, unknown>, what: Pick<PlacedOrder, 'archiveId' | 'tasking'>): PlacedOrder {
    if (body['deliveryDriver'] !== 'NONE') throw invalid('deliveryDriver', 'Only NONE is simulated')
    if (this.take('overBudget')) throw new Refused(402, 'Budget exceeded: the card on file was declined')
    const order: PlacedOrder = {
      id: randomUUID(),
      createdAt: this.clock.now(),
      aoi: String(body['aoi']),
      ...what,
      metadata: (body['metadata'] as Record<string, unknown> | undefined) ?? null,
      label: String(body['label'] ?? 'Platform Order'),
      orderLabel: String(body['orderLabel'] ?? 'Platform Order'),
      webhookUrl: (body['webhookUrl'] as string | undefined) ?? null,
    }
    this.orders.push(order)
    return order
  }
}

/** Errors, the key of the account, and the record of all exchanges. */
function guard(app: FastifyInstance, simulator: Simulator): void {
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Refused ? error.status : ((error as { statusCode?: number }).statusCode ?? 500)
    void reply.status(status).send({ detail: error instanceof Refused ? error.detail : 'Internal error' })
  })
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (simulator.take('limited')) return await reply.status(429).header('retry-after', '1').send({ detail: 'Too many requests' })
    if (simulator.take('refusedKeys') || request.headers[HEADER] !== simulator.key) throw new Refused(401, 'Authentication failed')
    return undefined
  })
  app.addHook('preSerialization', async (request, reply, response) => {
    const { method, query, body } = request
    const route = (request.routeOptions.url ?? '').slice(PREFIX.length).replaceAll(/:(\w+)/g, '{$1}')
    const exchange = { method, route, query: { ...(query as object) }, request: body ?? null, status: reply.statusCode, response }
    if (simulator.exchanges.length < MAX_EXCHANGES) simulator.exchanges.push(exchange)
    return response
  })
}

type Body = Record<string, unknown>

function serveArchives(app: FastifyInstance, simulator: Simulator): void {
  app.post<{ Body: Body }>(`${PREFIX}/archives`, async ({ body }) => await simulator.search(body, 0))
  app.get<{ Querystring: { page?: string } }>(`${PREFIX}/archives`, async ({ query }) => {
    const page = JSON.parse(Buffer.from(String(query.page), 'base64url').toString('utf8')) as { body: Body; offset: number }
    return await simulator.search(page.body, page.offset)
  })
  app.get<{ Params: { archive_id: string } }>(`${PREFIX}/archives/:archive_id`, async ({ params }) =>
    simulator.archive(simulator.scene(params.archive_id)),
  )
}

function serveOrders(app: FastifyInstance, simulator: Simulator): void {
  const answer = async (order: PlacedOrder, reply: FastifyReply) => {
    if (simulator.take('lostPlacements')) return reply.status(502).send({ detail: 'Bad gateway' })
    const { events: _events, ...view } = await simulator.view(order)
    return reply.status(201).send(view)
  }
  app.post<{ Body: Body }>(`${PREFIX}/order-archive`, async ({ body }, reply) => await answer(simulator.placeArchive(body), reply))
  app.post<{ Body: Body }>(`${PREFIX}/order-tasking`, async ({ body }, reply) => await answer(simulator.placeTasking(body), reply))
  type Listing = { Querystring: { orderType?: string; pageNumber?: string; pageSize?: string } }
  app.get<Listing>(`${PREFIX}/orders`, async ({ query: { orderType, pageNumber = '0', pageSize = '25' } }) => {
    const [page, size] = [Number(pageNumber), Number(pageSize)]
    if (!(size >= 1 && size <= 100)) throw invalid('pageSize', 'Input should be from 1 to 100')
    const wanted = simulator.orders.filter(({ tasking }) => orderType === undefined || (orderType === 'TASKING') === (tasking !== null))
    const listed = wanted.toReversed().slice(page * size, (page + 1) * size)
    const views = await Promise.all(listed.map((order) => simulator.view(order)))
    return {
      request: { orderType: orderType ?? null, pageNumber: page, pageSize: size, sortColumns: ['created_at'], sortDirections: ['desc'] },
      total: wanted.length,
      orders: views.map(({ events: _events, ...view }) => view),
    }
  })
  type One = { Params: { order_id: string; deliverable_type: string } }
  app.get<One>(`${PREFIX}/orders/:order_id`, async ({ params }) => await simulator.view(simulator.order(params.order_id)))
  app.get<One>(`${PREFIX}/orders/:order_id/:deliverable_type`, async ({ params }, reply) => {
    const order = simulator.order(params.order_id)
    const isThere = (await simulator.view(order)).downloadCogUrl !== null
    if (!isThere || !['cog', 'image'].includes(params.deliverable_type)) throw new Refused(404, 'Order not found')
    const signature = randomUUID()
    simulator.links.set(signature, { orderId: order.id, expiresAt: simulator.clock.now().getTime() + LINK_SECONDS * 1000 })
    return await reply.redirect(`http://${simulator.filesHost}/deliverables/${order.id}.tif?signature=${signature}`, 307)
  })
}

function serveFiles(files: FastifyInstance, simulator: Simulator): void {
  const { links, clock, fileHeaders, renderer } = simulator
  files.addHook('onRequest', async ({ headers }) => void fileHeaders.push({ ...headers }))
  files.get<{ Params: { file: string } }>('/thumbnails/:file', async ({ params }, reply) => {
    const bytes = await renderer.picture(simulator.scene(params.file.replace(/\.png$/, '')), 160)
    return reply.type('image/png').send(Buffer.from(bytes))
  })
  files.get<{ Querystring: { signature?: string } }>('/deliverables/:file', async (request, reply) => {
    const link = links.get(String(request.query.signature))
    if (!link || link.expiresAt < clock.now().getTime() || simulator.take('expiredLinks'))
      return await reply.status(403).type('application/xml').send('<Error><Code>ExpiredToken</Code></Error>')
    const content = await simulator.fileOf(simulator.order(link.orderId))
    return await sendFile(request, reply, { content, type: 'image/tiff', isBroken: simulator.take('brokenTransfers') })
  })
}

const OWNER = { id: '4f0f8a10-6a6b-4f0e-9c1d-0a1b2c3d4e5f', email: 'imagery@example.com' }

function serveAccount(app: FastifyInstance): void {
  app.get(`${PREFIX}/auth/whoami`, async () => ({
    id: OWNER.id,
    organizationId: null,
    email: OWNER.email,
    firstName: 'Ann',
    lastName: 'Example',
    isDemoAccount: false,
    currentBudgetUsage: 12_500,
    budgetAmount: 100_000,
    hasValidSharedCard: true,
  }))
}

/** One simple convex polygon with at most 500 vertices. */
function requireAoi(value: unknown): AreaGeometry {
  const area = typeof value === 'string' ? readWkt(value) : null
  if (!area) throw invalid('aoi', 'Invalid WKT')
  const ring = convexRing(area)
  if (!ring) throw invalid('aoi', 'AOI must be a convex polygon')
  if (ring.length > MAX_VERTICES) throw invalid('aoi', `AOI must have at most ${MAX_VERTICES} vertices`)
  return area
}

const wktOf = (area: AreaGeometry): string =>
  area.type === 'Polygon'
    ? polygonWkt(area.coordinates as Position[][])
    : `MULTIPOLYGON (${(area.coordinates as Position[][][]).map((rings) => polygonWkt(rings).slice('POLYGON '.length)).join(', ')})`
