/**
 * Planet's Data, Orders and Tasking APIs as its documents and its Python client describe them, on loopback, with the scenes of the sandbox.
 * Thumbnails are at a second host, which takes the key too; files are at a third, which must never see it. The test decides what goes
 * wrong.
 */
import { randomUUID } from 'node:crypto'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { centreOf } from '#core/area.ts'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { DAY_MS } from '#core/time.ts'
import type { PlanPlace, SceneDescription } from '../../scenes/index.ts'
import { HOSTS } from '../hosts.ts'
import { Library } from '../library.ts'
import { openSceneRenderer, type SceneRenderer } from '../scene-renderer.ts'
import { listen } from '../listen.ts'
import { sendFile } from '../send-file.ts'
import type { OrderedScene, OrderFile } from './delivery.ts'
import { InvalidFilter, ITEM_TYPES, itemOf, matches, planOf, type Filter, type PlanetItem } from './items.ts'
import { OrderBook, Refused, type PlacedOrder } from './orders.ts'
import { TaskingBook, type TaskingOrder } from './tasking.ts'

interface PlanetOptions {
  readonly clock: Clock
  /** Folder for rendered files. */
  readonly workDir: string
  /** An order is queued for one of these and ends after eight. */
  readonly stepSeconds?: number
  readonly key?: string
  /** Items on a page of a search that does not say how many it wants. */
  readonly pageSize?: number
}

/** What goes wrong next. Counters count down. */
interface PlanetFaults {
  /** Orders that are placed, and answered with 502. */
  lostPlacements: number
  /** Requests that are answered with 401, whatever their key. */
  refusedKeys: number
  /** Orders that are refused because the quota of the contract is used up. */
  overQuota: number
  /** Signed links that have expired when they are opened. */
  expiredLinks: number
  /** Transfers that end halfway. */
  brokenTransfers: number
  /** Requests that are answered with 429. */
  limited: number
  /** Instead of the state of orders. */
  status: string | null
  /** Scenes of the next order that fail. */
  failedItems: number
  /** Added to the stated size of images. */
  extraBytes: number
  hasWrongDigests: boolean
  hasStrayScene: boolean
}

export interface SimulatedPlanet {
  /** Base URL of the APIs, and of the thumbnails. */
  readonly url: string
  readonly tilesUrl: string
  /** `host:port` of all three hosts. */
  readonly hosts: { readonly api: string; readonly tiles: string; readonly files: string }
  readonly key: string
  readonly faults: PlanetFaults
  readonly orders: readonly PlacedOrder[]
  readonly taskings: readonly TaskingOrder[]
  /** Headers that the host of the files received. */
  readonly fileHeaders: readonly Record<string, unknown>[]
  /** What an order delivers. */
  files(orderId: string): Promise<readonly OrderFile[]>
  close(): Promise<void>
}

const LIBRARIES = [
  { name: 'planet', sensor: 'sandbox-hr' },
  { name: 'skysat', sensor: 'sandbox-vhr' },
] as const
const MAX_PAGE_SIZE = 250
/** Scenes that a search looks at when it begins with the oldest. */
const MAX_FOUND = 600
const SORTS = ['acquired asc', 'acquired desc', 'published asc', 'published desc']
const DATA = '/data/v1'
const ORDERS = '/compute/ops/orders/v2'

export async function startPlanet(options: PlanetOptions): Promise<SimulatedPlanet> {
  const simulator = new Simulator(options)
  const [app, tiles, files] = [1, 2, 3].map(() => fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 300 } }))
  guard(app!, simulator)
  guard(tiles!, simulator)
  serveData(app!, simulator)
  serveOrders(app!, simulator)
  simulator.tasking.serve(app!)
  serveTiles(tiles!, simulator)
  serveFiles(files!, simulator)
  const hosts = { api: await listen(app!), tiles: await listen(tiles!), files: await listen(files!) }
  Object.assign(simulator.bases, { api: `http://${hosts.api}`, tiles: `http://${hosts.tiles}`, files: `http://${hosts.files}` })
  const { key, faults, fileHeaders, book, bases } = simulator
  return {
    url: bases.api,
    tilesUrl: bases.tiles,
    hosts,
    key,
    faults,
    fileHeaders,
    orders: book.orders,
    taskings: simulator.tasking.orders,
    files: async (orderId) => (await book.files(book.get(orderId, 'No such order')))?.all ?? [],
    async close() {
      for (const server of [app!, tiles!, files!]) await server.close()
      await simulator.renderer.close()
    },
  }
}

type Counter = 'lostPlacements' | 'refusedKeys' | 'overQuota' | 'expiredLinks' | 'brokenTransfers' | 'limited'

interface Search {
  readonly itemTypes: readonly string[]
  readonly filter: Filter
  readonly sort: string
  readonly pageSize: number
}

class Simulator {
  readonly clock: Clock
  readonly key: string
  readonly pageSize: number
  readonly renderer: SceneRenderer
  /** PlanetScope, which is searched, and SkySat, which is tasked. */
  readonly library: Library
  readonly skysat: Library
  readonly book: OrderBook
  readonly tasking: TaskingBook
  readonly bases = { api: '', tiles: '', files: '' }
  readonly fileHeaders: Record<string, unknown>[] = []
  readonly searches = new Map<string, Search>()
  readonly faults: PlanetFaults = {
    lostPlacements: 0,
    refusedKeys: 0,
    overQuota: 0,
    expiredLinks: 0,
    brokenTransfers: 0,
    limited: 0,
    status: null,
    failedItems: 0,
    extraBytes: 0,
    hasWrongDigests: false,
    hasStrayScene: false,
  }

  constructor({ clock, workDir, stepSeconds = 60, key = 'planet-key-of-a-test-0001', pageSize = MAX_PAGE_SIZE }: PlanetOptions) {
    this.pageSize = pageSize
    this.clock = clock
    this.key = key
    this.renderer = openSceneRenderer(workDir)
    const [library, skysat] = LIBRARIES.map(
      ({ name, sensor }) => new Library({ ...HOSTS.find((host) => host.name === sensor)!, name, sensor }, () => clock.now()),
    )
    this.library = library!
    this.skysat = skysat!
    const { renderer, faults } = this
    const ordered = (id: string) => this.ordered(id)
    this.tasking = new TaskingBook({
      clock,
      stepSeconds,
      take: ({ geometry, createdAt }) => this.#sceneOfDayBefore(geometry, createdAt),
      losesPlacement: () => this.take('lostPlacements'),
      status: () => faults.status,
    })
    this.book = new OrderBook({ clock, stepSeconds, renderer, faults, ordered, apiUrl: () => this.bases.api })
  }

  /** Of the day before an order, because nothing is known of the future. */
  #sceneOfDayBefore(area: AreaGeometry, at: Date): string | null {
    const day = new Date(at.getTime() - DAY_MS).toISOString().slice(0, 10)
    return this.skysat.sceneAt(centreOf(area), day)?.id ?? null
  }

  /** Whether this fault is due; each is counted down. */
  take(name: Counter): boolean {
    if (this.faults[name] <= 0) return false
    this.faults[name]--
    return true
  }

  ordered(id: string): OrderedScene | null {
    const scene = this.library.scene(id) ?? this.skysat.scene(id)
    return scene && { scene, item: itemOf(scene, this.bases) }
  }

  item(type: string, id: string): OrderedScene {
    const found = this.ordered(id)
    if (found?.item.properties.item_type !== type)
      throw new Refused(404, { general: [{ message: 'The requested id does not exist' }], field: {} })
    return found
  }

  /** One page, and the link to the next. */
  async page(id: string, offset: number) {
    const search = this.searches.get(id)
    if (!search) throw new Refused(404, { general: [{ message: 'The requested search does not exist' }], field: {} })
    const items = await this.#found(search, offset + search.pageSize + 1)
    const address = `${this.bases.api}${DATA}/searches/${id}/results`
    const next = Buffer.from(String(offset + search.pageSize)).toString('base64url')
    return {
      _links: {
        _first: `${address}?_page=${Buffer.from('0').toString('base64url')}`,
        ...(items.length > offset + search.pageSize ? { _next: `${address}?_page=${next}` } : {}),
        _self: address,
      },
      features: items.slice(offset, offset + search.pageSize),
      type: 'FeatureCollection',
    }
  }

  async #found({ itemTypes, filter, sort }: Search, limit: number): Promise<PlanetItem[]> {
    const { area, from, to, ids } = planOf(filter)
    const wanted = (scenes: readonly SceneDescription[]): PlanetItem[] =>
      scenes.flatMap((scene) => {
        const item = itemOf(scene, this.bases)
        return itemTypes.includes(item.properties.item_type) && matches(filter, scene, item) ? [item] : []
      })
    if (ids) return wanted(ids.flatMap((id) => this.ordered(id)?.scene ?? []))
    if (!itemTypes.includes('PSScene')) return []
    const isOldestFirst = sort.endsWith(' asc')
    const most = isOldestFirst ? MAX_FOUND : limit
    const found: PlanetItem[] = []
    for (const part of partsOf(area)) {
      const plan = { ...(part ? { intersects: part } : {}), from, to, accepts: () => true }
      let next: PlanPlace | null = null
      do {
        const page = await this.library.search({ ...plan, limit: most - found.length, ...(next ? { after: next } : {}) })
        found.push(...wanted(page.scenes))
        next = page.next
      } while (next && found.length < most)
      if (found.length >= most) break
    }
    return (isOldestFirst ? found.toReversed() : found).slice(0, limit)
  }
}

/** The library looks around an area; the parts of one can be far from each other. */
const partsOf = (area: AreaGeometry | null): (AreaGeometry | null)[] =>
  area?.type === 'MultiPolygon' ? area.coordinates.map((coordinates) => ({ type: 'Polygon', coordinates })) : [area]

type Body = Record<string, unknown>

/** Errors, the key of the account, and the limit of requests. The key is accepted in both of Planet's ways. */
function guard(app: FastifyInstance, simulator: Simulator): void {
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof Refused) return void reply.status(error.status).send(error.body)
    const status = error instanceof InvalidFilter ? 400 : ((error as { statusCode?: number }).statusCode ?? 500)
    return void reply.status(status).send({ general: [{ message: (error as Error).message }], field: {} })
  })
  const accepted = [`api-key ${simulator.key}`, `Basic ${Buffer.from(`${simulator.key}:`).toString('base64')}`]
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.url.startsWith('/compute/ops/download/')) return undefined // The token in the link is enough.
    if (simulator.take('limited')) return await reply.status(429).header('retry-after', '1').send({ message: 'Rate limit exceeded' })
    const { authorization = '' } = request.headers
    if (simulator.take('refusedKeys') || !accepted.includes(authorization))
      throw new Refused(401, { message: 'Please enter your API key, or email and password.', errors: [] })
    return undefined
  })
}

function serveData(app: FastifyInstance, simulator: Simulator): void {
  type Asked = { Body: Body; Querystring: { _sort?: string; _page_size?: string } }
  app.post<Asked>(`${DATA}/quick-search`, async ({ body, query }) => {
    const { item_types: itemTypes, filter } = body as { item_types?: string[]; filter?: Filter }
    const unknown = itemTypes?.find((type) => !ITEM_TYPES.includes(type))
    if (!itemTypes?.length || unknown !== undefined) throw new InvalidFilter(`Unknown item type ${unknown}`)
    const [sort, pageSize] = [query._sort ?? 'published desc', Number(query._page_size ?? simulator.pageSize)]
    if (!filter || !SORTS.includes(sort)) throw new InvalidFilter('filter and _sort must be valid')
    if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE) throw new InvalidFilter('_page_size must be from 1 to 250')
    const id = randomUUID().replaceAll('-', '')
    simulator.searches.set(id, { itemTypes, filter, sort, pageSize })
    return await simulator.page(id, 0)
  })
  type Paged = { Params: { id: string }; Querystring: { _page?: string } }
  app.get<Paged>(`${DATA}/searches/:id/results`, async ({ params, query }) => {
    const offset = Number(Buffer.from(String(query._page), 'base64url').toString('utf8'))
    return await simulator.page(params.id, Number.isInteger(offset) ? offset : 0)
  })
  type One = { Params: { type: string; id: string } }
  app.get<One>(`${DATA}/item-types/:type/items/:id`, async ({ params }) => simulator.item(params.type, params.id).item)
  app.get<One>(`${DATA}/item-types/:type/items/:id/assets`, async ({ params }) => {
    const { item } = simulator.item(params.type, params.id)
    const link = (name: string) => `${simulator.bases.api}${DATA}/assets/${Buffer.from(`${item.id}/${name}`).toString('base64url')}`
    return Object.fromEntries(
      item.assets.map((name) => [
        name,
        {
          _links: { _self: link(name), activate: `${link(name)}/activate`, type: `${simulator.bases.api}${DATA}/asset-types/${name}` },
          _permissions: ['download'],
          md5_digest: null,
          status: 'inactive',
          type: name,
        },
      ]),
    )
  })
}

function serveOrders(app: FastifyInstance, simulator: Simulator): void {
  const { book } = simulator
  app.post<{ Body: Body }>(ORDERS, async ({ body }, reply) => {
    if (simulator.take('overQuota'))
      throw new Refused(403, { field: {}, general: [{ message: 'Unable to accept order: the quota of this contract is exceeded' }] })
    const order = book.place(body)
    if (simulator.take('lostPlacements')) return reply.status(502).send({ message: 'Bad gateway' })
    return reply.status(202).send(await book.view(order, true))
  })
  type Listing = { Querystring: { name?: string; name__contains?: string; state?: string; source_type?: string } }
  app.get<Listing>(ORDERS, async ({ query }) => {
    const named = book.orders.filter(
      ({ name }) => (query.name === undefined || name === query.name) && name.includes(query.name__contains ?? ''),
    )
    const views = await Promise.all(named.toReversed().map((order) => book.view(order, false)))
    const orders = views.filter(({ state }) => query.state === undefined || state === query.state)
    return { _links: { _self: `${simulator.bases.api}${ORDERS}` }, orders }
  })
  type One = { Params: { id: string } }
  app.get<One>(`${ORDERS}/:id`, async ({ params: { id } }) => await book.view(book.get(id, `Could not load order ID: ${id}`), true))
  app.put<One>(`${ORDERS}/:id`, async ({ params: { id } }) => {
    const order = book.get(id, `No such order ID: ${id}.`)
    book.cancel(order)
    return await book.view(order, true)
  })
  app.get('/compute/ops/stats/orders/v2', async () => {
    const states = await Promise.all(book.orders.map((order) => book.state(order)))
    const counts = {
      queued_orders: states.filter((state) => state === 'queued').length,
      running_orders: states.filter((state) => state === 'running').length,
    }
    return { organization: counts, user: counts }
  })
  /** Leads to the storage, which knows nothing of keys. */
  app.get<{ Querystring: { token?: string } }>('/compute/ops/download/', async ({ query }, reply) => {
    const link = book.links.get(String(query.token))
    if (!link || link.expiresAt < simulator.clock.now().getTime()) throw new Refused(403, { message: 'The token has expired' })
    return await reply.redirect(`${simulator.bases.files}/${link.orderId}/${link.path}?signature=${query.token}`, 302)
  })
}

function serveTiles(tiles: FastifyInstance, simulator: Simulator): void {
  type Thumb = { Params: { type: string; id: string }; Querystring: { width?: string } }
  tiles.get<Thumb>(`${DATA}/item-types/:type/items/:id/thumb`, async ({ params, query }, reply) => {
    const { scene } = simulator.item(params.type, params.id)
    const width = Math.min(2_048, Math.max(16, Number(query.width ?? 256) || 256))
    return reply.type('image/png').send(Buffer.from(await simulator.renderer.picture(scene, width)))
  })
}

function serveFiles(files: FastifyInstance, simulator: Simulator): void {
  files.addHook('onRequest', async ({ headers }) => void simulator.fileHeaders.push({ ...headers }))
  files.get<{ Querystring: { signature?: string } }>('/*', async (request, reply) => {
    const { book, clock } = simulator
    const link = book.links.get(String(request.query.signature))
    if (!link || link.expiresAt < clock.now().getTime() || simulator.take('expiredLinks'))
      return await reply.status(403).type('application/xml').send('<Error><Code>ExpiredToken</Code></Error>')
    const made = await book.files(book.get(link.orderId, 'No such order'))
    const isManifest = link.path === 'manifest.json'
    const file = made?.all.find(({ path }) => path === link.path)
    reply.header('content-disposition', `attachment; filename="${link.path.split('/').at(-1)}"`)
    return await sendFile(request, reply, {
      content: isManifest ? made!.manifest : file!.bytes,
      type: file?.mediaType ?? 'application/json',
      isBroken: simulator.take('brokenTransfers'),
    })
  })
}
