/**
 * Tasking by the STAPI standard: every route calls an operation, with all its stages and the caller's credential. An order is paid as
 * elsewhere: nothing is reserved until its price is accepted, for which the status of the order has links.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { areaBounds } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { isUuid } from '#core/ids.ts'
import { notFound, unknownName } from '#core/problem.ts'
import { DAY_MS } from '#core/time.ts'
import { parseBody } from '#http/body.ts'
import { send } from '#http/operations.ts'
import type { RouteParts } from '#http/parts.ts'
import { numeric, project, queryOf } from '#http/projections/project.ts'
import { READS_BODY, readRequest } from '#http/read-body.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import { stapiApi } from './api.ts'
import {
  CONFORMANCE,
  GEOJSON_TYPE,
  JSON_TYPE,
  landing,
  offersOf,
  orderParametersOf,
  PRODUCT_CONFORMANCE,
  productOf,
  queryablesOf,
  SCHEMA_TYPE,
  type Json,
  type Offer,
  type Sensor,
  type StapiLink,
} from './documents.ts'
import {
  OPPORTUNITY_FIELDS,
  opportunitiesInput,
  ORDER_FIELDS,
  orderInput,
  pageOf,
  problemOf,
  searchOf,
  type Page,
  type Search,
} from './input.ts'
import {
  createOrderLink,
  isUndecided,
  opportunityOf,
  orderOf,
  quotationLinks,
  statusesOf,
  studyLinks,
  type OrderDocument,
  type PassDocument,
  type QuotationDocument,
  type StudyDocument,
} from './orders.ts'

interface IdRoute {
  Params: { id: string }
}
type IdRequest = FastifyRequest<IdRoute>

export function registerStapi(app: FastifyInstance, parts: RouteParts): void {
  const baseUrl = () => parts.platform.baseUrl()
  const start = async (_request: FastifyRequest, reply: FastifyReply) =>
    reply.type(JSON_TYPE).send(landing(`${baseUrl()}/stapi`, baseUrl()))
  app.get('/stapi', start)
  app.get('/stapi/', start)
  app.get('/stapi/conformance', async (_request, reply) => reply.type(JSON_TYPE).send({ conformsTo: CONFORMANCE }))
  app.get('/stapi/api', async (_request, reply) =>
    reply.type('application/vnd.oai.openapi+json;version=3.1').send(JSON.stringify(stapiApi(baseUrl()))),
  )
  registerProducts(app, parts)
  app.post<IdRoute>('/stapi/products/:id/opportunities', READS_BODY, (request, reply) => opportunities(parts, request, reply))
  app.post<IdRoute>('/stapi/products/:id/orders', READS_BODY, (request, reply) => placeOrder(parts, request, reply))
  registerOrders(app, parts)
}

const bodyOf = <T>(invoked: Invoked): T => JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as T

function sendDocument(reply: FastifyReply, invoked: Invoked, document: unknown, type = JSON_TYPE): FastifyReply {
  const headers = { ...invoked.headers, 'Content-Type': type }
  return send(reply, { ...invoked, headers, body: Buffer.from(JSON.stringify(document)) })
}

function sendProblem(reply: FastifyReply, invoked: Invoked): FastifyReply {
  return send(reply, { ...invoked, body: Buffer.from(JSON.stringify(problemOf(bodyOf<Json>(invoked)))) })
}

function registerProducts(app: FastifyInstance, parts: RouteParts): void {
  const stapiUrl = () => `${parts.platform.baseUrl()}/stapi`
  app.get('/stapi/products', async (request, reply) => {
    const invoked = await project(parts, 'orders.tasking.sensors', request, reply, () => ({}))
    if (invoked.status !== 200) return sendProblem(reply, invoked)
    const { page, size } = queryPage(request)
    const offers = offersOf(bodyOf<{ sensors: Sensor[] }>(invoked).sensors)
    const products = offers.slice(page * size, (page + 1) * size).map((offer) => productOf(offer, stapiUrl()))
    const links = pageLinks(`${stapiUrl()}/products`, { page, size }, offers.length, JSON_TYPE)
    return sendDocument(reply, invoked, { type: 'ProductCollection', products, links })
  })
  const one = (path: string, document: (offer: Offer) => unknown, type = JSON_TYPE) =>
    app.get<IdRoute>(`/stapi/products/:id${path}`, async (request, reply) => {
      const invoked = await project(parts, 'orders.tasking.sensors', request, reply, () => ({}))
      if (invoked.status !== 200) return sendProblem(reply, invoked)
      return sendDocument(reply, invoked, document(requireOffer(invoked, request.params.id)), type)
    })
  one('', (offer) => productOf(offer, stapiUrl()))
  one('/conformance', () => ({ conformsTo: PRODUCT_CONFORMANCE }))
  one('/queryables', (offer) => queryablesOf(offer, stapiUrl()), SCHEMA_TYPE)
  one('/order-parameters', (offer) => orderParametersOf(offer, stapiUrl()), SCHEMA_TYPE)
}

function requireOffer(invoked: Invoked, id: string): Offer {
  const offers = offersOf(bodyOf<{ sensors: Sensor[] }>(invoked).sensors)
  const offer = offers.find(({ name }) => name === id)
  if (offer) return offer
  const names = offers.map(({ name }) => name)
  throw unknownName('product', id, names, 'GET /stapi/products lists all')
}

const queryPage = (request: FastifyRequest): Page => {
  const { limit, next } = queryOf(request)
  return pageOf({ limit: numeric(limit), next })
}

/** Links to this page and the next one. */
function pageLinks(url: string, { page, size }: Page, total: number, type: string): StapiLink[] {
  const to = (rel: string, number: number, title: string) => ({ rel, href: `${url}?limit=${size}&next=${number}`, type, title })
  return [to('self', page, 'This page'), ...((page + 1) * size < total ? [to('next', page + 1, 'Next page')] : [])]
}

/** The body is read once the caller is authorized. */
async function readBody(request: FastifyRequest): Promise<Json> {
  return parseBody(await readRequest(request), request.headers['content-type'], request.headers['content-encoding'])
}

async function opportunities(parts: RouteParts, request: IdRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { id } = request.params
  const asked: { body: Json; search: Search; page: Page }[] = []
  const invoked = await project(parts, 'orders.tasking.opportunities_list', request, reply, async () => {
    const body = await readBody(request)
    const search = searchOf(body, OPPORTUNITY_FIELDS, parts.platform.services.clock.now())
    const page = pageOf(body)
    asked.push({ body, search, page })
    return opportunitiesInput(id, search, page)
  })
  if (invoked.status !== 200) return sendProblem(reply, invoked)
  const [{ body, search, page }] = asked as [(typeof asked)[number]]
  const { content, totalElements } = bodyOf<{ content: PassDocument[]; totalElements: number }>(invoked)
  const productUrl = `${parts.platform.baseUrl()}/stapi/products/${encodeURIComponent(id)}`
  const place = { geometry: search.geometry, bbox: boundsOf(search.geometry as AreaGeometry | Point) }
  const hasMore = (page.page + 1) * page.size < totalElements
  if (/\bwait\b/.test(String(request.headers['prefer'] ?? ''))) reply.header('Preference-Applied', 'wait')
  return sendDocument(
    reply,
    invoked,
    {
      type: 'FeatureCollection',
      features: content.map((pass) => opportunityOf(pass, id, place)),
      links: [createOrderLink(productUrl, search), ...(hasMore ? [nextLink(`${productUrl}/opportunities`, body, page)] : [])],
    },
    GEOJSON_TYPE,
  )
}

const nextLink = (href: string, body: Json, { page, size }: Page): StapiLink => ({
  rel: 'next',
  href,
  type: GEOJSON_TYPE,
  title: 'Next page',
  method: 'POST',
  body: { ...body, limit: size, next: String(page + 1) },
})

interface Point {
  type: 'Point'
  coordinates: [number, number]
}

function boundsOf(geometry: AreaGeometry | Point): number[] {
  if (geometry.type !== 'Point') return areaBounds(geometry)
  const [x, y] = geometry.coordinates
  return [x, y, x, y]
}

/** An order without a start has the same input when it is repeated with its idempotency key. */
const startOfDay = (now: Date): Date => new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS)

async function placeOrder(parts: RouteParts, request: IdRequest, reply: FastifyReply): Promise<FastifyReply> {
  const invoked = await project(parts, 'orders.tasking.place', request, reply, async () => {
    const body = await readBody(request)
    const search = searchOf(body, ORDER_FIELDS, startOfDay(parts.platform.services.clock.now()))
    return orderInput(request.params.id, search, body['order_parameters'] ?? undefined)
  })
  if (invoked.status !== 200) return sendProblem(reply, invoked)
  const baseUrl = parts.platform.baseUrl()
  const order = bodyOf<OrderDocument>(invoked)
  reply.header('Location', `${baseUrl}/stapi/orders/${order.id}`)
  return sendDocument(reply, { ...invoked, status: 201 }, orderOf(order, baseUrl), GEOJSON_TYPE)
}

function registerOrders(app: FastifyInstance, parts: RouteParts): void {
  const baseUrl = () => parts.platform.baseUrl()
  app.get('/stapi/orders', async (request, reply) => {
    const invoked = await project(parts, 'orders.list', request, reply, () => ({ type: 'TASKING', ...queryPage(request) }))
    if (invoked.status !== 200) return sendProblem(reply, invoked)
    const { content, totalElements } = bodyOf<{ content: OrderDocument[]; totalElements: number }>(invoked)
    const features = content.map((order) => orderOf(order, baseUrl()))
    const links = pageLinks(`${baseUrl()}/stapi/orders`, queryPage(request), totalElements, GEOJSON_TYPE)
    return sendDocument(reply, invoked, { type: 'FeatureCollection', features, links }, GEOJSON_TYPE)
  })
  app.get<IdRoute>('/stapi/orders/:id', (request, reply) =>
    sendOrder(parts, request, reply, (order, decisions) => ({ document: orderOf(order, baseUrl(), decisions), type: GEOJSON_TYPE })),
  )
  app.get<IdRoute>('/stapi/orders/:id/statuses', (request, reply) =>
    sendOrder(parts, request, reply, (order, decisions) => {
      const { page, size } = queryPage(request)
      const all = statusesOf(order, baseUrl(), decisions)
      const links = pageLinks(`${baseUrl()}/stapi/orders/${order.id}/statuses`, { page, size }, all.length, JSON_TYPE)
      return { document: { statuses: all.slice(page * size, (page + 1) * size), links }, type: JSON_TYPE }
    }),
  )
}

type Shape = (order: OrderDocument, decisions: StapiLink[]) => { document: unknown; type: string }

async function sendOrder(parts: RouteParts, request: IdRequest, reply: FastifyReply, shape: Shape): Promise<FastifyReply> {
  const { id } = request.params
  // A missing credential is reported first; an invalid ID is an unknown order.
  const invoked = await project(parts, 'orders.get', request, reply, () => {
    if (!isUuid(id)) throw notFound('order')
    return { id }
  })
  if (invoked.status !== 200) return sendProblem(reply, invoked)
  const order = bodyOf<OrderDocument>(invoked)
  if (order.orderType !== 'tasking') throw notFound('order')
  const decisions = isUndecided(order) ? await decisionLinks(parts, request, reply, order) : []
  if (!Array.isArray(decisions)) return sendProblem(reply, decisions)
  const { document, type } = shape(order, decisions)
  return sendDocument(reply, invoked, document, type)
}

/** How the customer can decide, or why this could not be found out. */
async function decisionLinks(
  parts: RouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, subStatus }: OrderDocument,
): Promise<StapiLink[] | Invoked> {
  const baseUrl = parts.platform.baseUrl()
  const isStudy = subStatus === 'feasibility_ready'
  const operation = isStudy ? 'orders.tasking.feasibility_studies.list' : 'orders.tasking.quotations.list'
  const invoked = await project(parts, operation, request, reply, () => ({ orderId: id, decision: 'NOT_DECIDED', size: 100 }))
  if (invoked.status !== 200) return invoked
  if (isStudy) return studyLinks(bodyOf<{ content: StudyDocument[] }>(invoked).content, baseUrl)
  const { content } = bodyOf<{ content: (QuotationDocument & { state: string })[] }>(invoked)
  return quotationLinks(
    content.filter(({ state }) => state === 'issued'),
    baseUrl,
  )
}
