/** The routes of the simulated UP42 API. */
import type { FastifyInstance } from 'fastify'
import type { AreaGeometry } from '#core/geometry.ts'
import { collectionOf, collectionView, COLLECTIONS, orderForm } from './glossary.ts'
import { serveSearch } from './search.ts'
import { Refused, type PlacedOrder, type Up42Simulator } from './simulator.ts'
import { collectionDocument, CONFORMANCE, itemDocument, landing, STAC, stored } from './storage.ts'

type Query = Record<string, string | string[] | undefined>
interface ById {
  Params: { id: string }
}

export function serveApi(app: FastifyInstance, simulator: Up42Simulator): void {
  serveAccount(app, simulator)
  serveGlossary(app, simulator)
  serveSearch(app, simulator)
  serveOrders(app, simulator)
  serveTasking(app, simulator)
  serveAssets(app, simulator)
  serveStac(app, simulator)
}

const DEFAULT_SIZE = 20
const many = (value: string | string[] | undefined): string[] => (value === undefined ? [] : [value].flat())

/** A page as Spring makes it. */
function paged<T>(list: readonly T[], query: Query, defaultSize = DEFAULT_SIZE) {
  const [page, size] = [Number(query['page'] ?? 0), Number(query['size'] ?? defaultSize)]
  const content = list.slice(page * size, (page + 1) * size)
  const totalPages = Math.ceil(list.length / size)
  return { content, totalPages, totalElements: list.length, number: page, size, first: page === 0, last: page + 1 >= totalPages }
}

export const REALM = '/realms/public/protocol/openid-connect'

function serveAccount(app: FastifyInstance, simulator: Up42Simulator): void {
  app.post<{ Body: string }>(`${REALM}/token`, async ({ body }) => simulator.signIn(new URLSearchParams(body)))
  app.get(`${REALM}/userinfo`, async () => ({ sub: simulator.workspaceId, email: simulator.user, email_verified: true }))
  app.get<ById>('/v2/eulas/:id', async ({ params }) => ({
    id: params.id,
    currentDocumentId: params.id,
    currentDocumentUrl: 'https://storage.example.com/eula/1.pdf',
    title: 'Licence of the producer',
    description: 'What may be done with the images',
    isAccepted: !simulator.faults.isUnlicensed,
    acceptedAt: null,
  }))
}

/** Small pages, so that clients turn them. */
const GLOSSARY_PAGE = 2

function serveGlossary(app: FastifyInstance, _simulator: Up42Simulator): void {
  app.get<{ Querystring: Query }>('/v2/collections', async ({ query }) => paged(COLLECTIONS.map(collectionView), query, GLOSSARY_PAGE))
  app.get<ById>('/orders/schema/:id', async ({ params }) => {
    const collection = collectionOf(params.id)
    if (!collection) throw new Refused(404, `Data product ${params.id} not found`)
    return orderForm(collection)
  })
}

interface OrderBody {
  dataProduct: string
  displayName: string
  params: Record<string, unknown>
  featureCollection: { features: { geometry: AreaGeometry }[] }
  tags?: string[]
}

const MAX_TAGS = 30

/** Each feature with its price, or the reason why it has none. */
function priced(simulator: Up42Simulator, { dataProduct, params, displayName, tags = [], featureCollection }: OrderBody) {
  if (!displayName || displayName.length > 200) throw new Refused(400, 'displayName must have from 1 to 200 characters')
  if (tags.length > MAX_TAGS || tags.some((tag) => !/^[\w .\-/:]+$/.test(tag))) throw new Refused(400, 'Invalid tags')
  const offers = featureCollection.features.map(({ geometry }, index) => {
    const offer =
      geometry.type === 'Polygon' || geometry.type === 'MultiPolygon'
        ? simulator.price(dataProduct, params, geometry)
        : 'Only polygons are supported'
    return { index, geometry, offer }
  })
  const errors = offers.flatMap(({ index, offer }) =>
    typeof offer === 'string' ? [{ index, message: 'Invalid order parameters', details: offer }] : [],
  )
  const sold = offers.flatMap(({ index, geometry, offer }) => (typeof offer === 'string' ? [] : [{ index, geometry, ...offer }]))
  return { sold, errors }
}

function serveOrders(app: FastifyInstance, simulator: Up42Simulator): void {
  app.post<{ Body: OrderBody }>('/v2/orders/estimate', async ({ body }) => {
    const { sold, errors } = priced(simulator, body)
    const total = (name: 'credits' | 'size') => sold.reduce((sum, each) => sum + each[name], 0)
    return {
      summary: { totalCredits: total('credits'), totalSize: total('size'), unit: 'SQ_KM' },
      results: sold.map(({ index, credits, size }) => ({ index, credits, size, unit: 'SQ_KM' })),
      errors,
    }
  })
  app.post<{ Body: OrderBody; Querystring: Query }>('/v2/orders', async ({ body, query }, reply) => {
    if (query['workspaceId'] !== simulator.workspaceId) throw new Refused(403, 'Not a member of this workspace')
    if (simulator.faults.isUnlicensed) throw new Refused(403, 'The EULA must be accepted before an order is placed')
    const { sold, errors } = priced(simulator, body)
    if (simulator.take('overBudget')) throw new Refused(403, 'Budget exceeded: not enough credits')
    const form = { productId: body.dataProduct, displayName: body.displayName, params: body.params, tags: body.tags ?? [] }
    const results = sold.map(({ index, geometry }) => ({ index, id: simulator.place({ ...form, area: geometry }).id }))
    if (simulator.take('lostPlacements')) throw new Refused(502, 'Bad gateway')
    return reply.status(201).send({ results, errors })
  })
  app.get<{ Querystring: Query }>('/v2/orders', async ({ query }) => {
    const views = await Promise.all(simulator.orders.map((order) => simulator.view(order)))
    const isListed = (view: (typeof views)[number]) => {
      const [tags, status, ids] = [many(query['tags']), many(query['status']), many(query['ids'])]
      const sub = many(query['subStatus'])
      return (
        (tags.length === 0 || tags.some((tag) => view.tags.includes(tag))) &&
        (status.length === 0 || status.includes(view.status)) &&
        (sub.length === 0 || sub.includes(String('subStatus' in view.orderDetails ? view.orderDetails.subStatus : null))) &&
        (ids.length === 0 || ids.includes(view.id)) &&
        (query['type'] === undefined || query['type'] === view.type) &&
        (query['workspaceId'] === undefined || query['workspaceId'] === view.workspaceId) &&
        view.displayName.includes(String(query['displayName'] ?? ''))
      )
    }
    return paged(views.filter(isListed).toReversed(), query)
  })
  app.get<ById>('/v2/orders/:id', async ({ params }) => await simulator.view(simulator.order(params.id)))
  app.patch<ById & { Body: { tags?: string[] } }>('/v2/orders/:id', async ({ params, body }) => {
    const order = simulator.order(params.id)
    order.tags = body.tags ?? order.tags
    return await simulator.view(order)
  })
  app.post<ById>('/v2/orders/:id/cancellation', async ({ params }) => {
    const order = simulator.order(params.id)
    const { status } = await simulator.view(order)
    if (status !== 'CREATED' && status !== 'PLACEMENT_FAILED') throw new Refused(409, `An order that is ${status} cannot be canceled`)
    order.isCancelled = true
    return { orderId: order.id, status: 'CANCELED' }
  })
  app.get<ById>('/v2/coverage/orders/:id', async ({ params }) => {
    const { area } = simulator.order(params.id)
    const isDone = (await simulator.standing(simulator.order(params.id))).status === 'FULFILLED'
    const share = (percentage: number) => ({ sqKmArea: percentage, percentage, geometry: area })
    return { covered: share(isDone ? 100 : 0), remainder: share(isDone ? 0 : 100) }
  })
}

const OPTIONS = [
  { id: 'aa183717-0000-4000-8000-000000000001', description: 'Within the window, with up to 10% of cloud' },
  { id: 'aa183717-0000-4000-8000-000000000002', description: 'A week longer, with up to 5% of cloud' },
]
/** A quotation differs from the estimate. */
const QUOTED_FACTOR = 1.2

function serveTasking(app: FastifyInstance, simulator: Up42Simulator): void {
  const common = (order: PlacedOrder) => ({
    createdAt: order.createdAt.toISOString(),
    updatedAt: order.createdAt.toISOString(),
    accountId: simulator.accountId,
    workspaceId: simulator.workspaceId,
    orderId: order.id,
  })
  const withId = ({ id }: { id: string }, option: { id: string; at: Date } | null) => (option?.id === id ? option : null)
  const studyView = (order: PlacedOrder) => {
    const chosen = OPTIONS.find((option) => withId(option, order.option))
    const decided = chosen ? { decision: 'ACCEPTED', decisionAt: order.option!.at.toISOString(), decisionOption: chosen } : null
    return { id: order.ids.study, ...common(order), options: OPTIONS, decision: 'NOT_DECIDED', decisionAt: null, ...decided }
  }
  const quotationView = (order: PlacedOrder) => {
    const offer = simulator.price(order.productId, order.params, order.area)
    return {
      id: order.ids.quotation,
      ...common(order),
      creditsPrice: typeof offer === 'string' ? 0 : Math.ceil(offer.credits * QUOTED_FACTOR),
      decision: order.quotation?.decision ?? 'NOT_DECIDED',
      decisionAt: order.quotation?.at.toISOString() ?? null,
    }
  }
  const listed = async (query: Query, isThere: (subStatus: string) => boolean) => {
    const orders = simulator.orders.filter(({ id, type }) => type === 'TASKING' && (query['orderId'] ?? id) === id)
    const states = await Promise.all(orders.map(async (order) => (await simulator.standing(order)).subStatus ?? ''))
    return orders.filter((_order, index) => isThere(states[index]!))
  }
  const isDecided = <V extends { decision: string }>(views: V[], query: Query) =>
    views.filter(({ decision }) => many(query['decision']).length === 0 || many(query['decision']).includes(decision))
  app.get<{ Querystring: Query }>('/v2/tasking/feasibility-studies', async ({ query }) => {
    const orders = await listed(query, (state) => state !== '' && state !== 'FEASIBILITY_WAITING_UPLOAD')
    return paged(isDecided(orders.map(studyView), query), query)
  })
  app.patch<ById & { Body: { acceptedOptionId: string } }>('/v2/tasking/feasibility-studies/:id', async ({ params, body }) => {
    const order = simulator.orders.find(({ ids }) => ids.study === params.id)
    if (!order) throw new Refused(404, 'Feasibility study not found')
    if (order.option) throw new Refused(409, 'The feasibility study is already decided')
    if (!OPTIONS.some(({ id }) => id === body.acceptedOptionId)) throw new Refused(400, 'No such option')
    order.option = { id: body.acceptedOptionId, at: simulator.clock.now() }
    return studyView(order)
  })
  app.get<{ Querystring: Query }>('/v2/tasking/quotation', async ({ query }) => {
    const orders = await listed(query, (state) => state.startsWith('QUOTATION_') && state !== 'QUOTATION_WAITING_UPLOAD')
    return paged(isDecided(orders.map(quotationView), query), query)
  })
  app.patch<ById & { Body: { decision: 'ACCEPTED' | 'REJECTED' } }>('/v2/tasking/quotation/:id', async ({ params, body }) => {
    const order = simulator.orders.find(({ ids }) => ids.quotation === params.id)
    if (!order) throw new Refused(404, 'Quotation not found')
    if (order.quotation) throw new Refused(409, 'The quotation is already decided')
    order.quotation = { decision: body.decision, at: simulator.clock.now() }
    return quotationView(order)
  })
}

function serveAssets(app: FastifyInstance, simulator: Up42Simulator): void {
  app.get<{ Querystring: Query }>('/v2/assets', async ({ query }) => {
    const states = await Promise.all(simulator.orders.map((order) => simulator.extraction(order)))
    const search = String(query['search'] ?? '')
    const assets = simulator.orders.flatMap((order, index) =>
      states[index] === null || !order.id.includes(search)
        ? []
        : [
            {
              id: order.ids.archive,
              workspaceId: simulator.workspaceId,
              accountId: simulator.accountId,
              createdAt: order.createdAt.toISOString(),
              name: `${order.id}.zip`,
              size: 1_000_000,
              contentType: 'application/zip',
              geospatialMetadataExtractionStatus: states[index],
              productId: order.productId,
              orderId: order.id,
              source: order.type,
              tags: order.tags,
            },
          ],
    )
    return paged(assets, query)
  })
  app.post<ById>('/v2/assets/:id/download-url', async ({ params }) => {
    const orders = await stored(simulator)
    if (!orders.some(({ ids }) => ids.image === params.id || ids.mask === params.id)) throw new Refused(404, 'Asset not found')
    return { url: simulator.signedLink(params.id) }
  })
}

interface StacSearch {
  filter?: { op: string; args: [{ property: string }, string] }
  ids?: string[]
}

function serveStac(app: FastifyInstance, simulator: Up42Simulator): void {
  const one = async (id: string): Promise<PlacedOrder> => {
    const order = (await stored(simulator)).find(({ ids }) => ids.collection === id)
    if (!order) throw new Refused(404, 'Collection not found')
    return order
  }
  const features = async (orders: readonly PlacedOrder[]) => ({
    type: 'FeatureCollection',
    features: await Promise.all(orders.map((order) => itemDocument(simulator, order))),
    links: [{ rel: 'root', href: `${simulator.base}${STAC}/`, type: 'application/json' }],
  })
  for (const path of [STAC, `${STAC}/`]) app.get(path, async () => landing(simulator.base))
  app.get(`${STAC}/conformance`, async () => ({ conformsTo: CONFORMANCE }))
  app.get(`${STAC}/collections`, async () => ({
    collections: (await stored(simulator)).map((order) => collectionDocument(simulator, order)),
    links: [],
  }))
  app.get<ById>(`${STAC}/collections/:id`, async ({ params }) => collectionDocument(simulator, await one(params.id)))
  app.get<ById>(`${STAC}/collections/:id/items`, async ({ params }) => await features([await one(params.id)]))
  app.get<ById>(`${STAC}/collections/:id/items/:item`, async ({ params }) => await itemDocument(simulator, await one(params.id)))
  app.post<{ Body: StacSearch }>(`${STAC}/search`, async ({ body: { filter, ids } }) => {
    const orders = (await stored(simulator)).filter((order) => !ids || ids.includes(order.ids.item))
    if (!filter) return await features(orders)
    const [{ property }, value] = filter.args
    if (filter.op !== '=' || property !== simulator.faults.orderProperty) throw new Refused(400, `Cannot filter by ${property}`)
    return await features(orders.filter(({ id }) => id === value))
  })
}
