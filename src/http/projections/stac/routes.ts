/** The organization as a STAC API, on top of `stac.search`, `stac.collections.list` and `items.get_stac`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '#core/problem.ts'
import { parseBody } from '#http/body.ts'
import { credentialOf } from '#http/credential.ts'
import { send } from '#http/operations.ts'
import { READS_BODY, readRequest } from '#http/read-body.ts'
import { extensionUri, withKey } from '#core/stac.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import { project, queryOf } from '#http/projections/project.ts'
import { bodyOf, inDialect, sendFeatures, sendProblem } from './responses.ts'
import { baseUrlOf, keyOf, type Facade } from './base-url.ts'
import { apiDocument } from './api.ts'
import { CONFORMANCE, extensionSchema, GEOJSON_TYPE, JSON_TYPE, landing, queryables, SCHEMA_TYPE, type FacadeLink } from './documents.ts'
import { exportAs, exportFormat } from './export.ts'
import { fromQuery, pickParameters, toInput } from './query.ts'

type Json = Record<string, unknown>
interface Collections {
  collections: { id: string; title: string }[]
}
interface ItemParams {
  id: string
  item: string
}

export function registerStac(app: FastifyInstance, facade: Facade): void {
  registerCatalogue(app, facade)
  registerCollections(app, facade)
  registerItems(app, facade)
  registerSearch(app, facade)
}

/** Input of every operation: the base URL of links, and the key that they include. */
const linkInput = (facade: Facade, request: FastifyRequest): Json => {
  const key = keyOf(request)
  return { base_url: baseUrlOf(facade, request), ...(key ? { key } : {}) }
}

const listCollections = (facade: Facade, request: FastifyRequest, reply: FastifyReply, ids?: readonly string[]): Promise<Invoked> =>
  project(facade, 'stac.collections.list', request, reply, () => ({ ...linkInput(facade, request), ...(ids ? { ids } : {}) }))

/** One entry of an operation that returns a list; 404 if it is not in the list. */
async function requireCollection(
  facade: Facade,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
): Promise<{ refused: Invoked } | { collection: Collections['collections'][number]; invoked: Invoked }> {
  const invoked = await listCollections(facade, request, reply, [request.params.id])
  if (invoked.status !== 200) return { refused: invoked }
  const collection = bodyOf<Collections>(invoked).collections.find(({ id }) => id === request.params.id)
  if (!collection) throw problem('not-found', 'No such collection')
  return { collection, invoked }
}

function registerCatalogue(app: FastifyInstance, facade: Facade): void {
  const catalogue = async (request: FastifyRequest, reply: FastifyReply) => {
    const [baseUrl, key] = [baseUrlOf(facade, request), keyOf(request)]
    if (credentialOf(request) === null) return reply.type(JSON_TYPE).send(landing(baseUrl, key, []))
    const invoked = await listCollections(facade, request, reply)
    if (invoked.status !== 200) return sendProblem(reply, invoked)
    return sendJson(reply, invoked, landing(baseUrl, key, bodyOf<Collections>(invoked).collections))
  }
  app.get('/stac', catalogue)
  app.get('/stac/', catalogue)
  app.get('/stac/conformance', async (_request, reply) => reply.type(JSON_TYPE).send({ conformsTo: CONFORMANCE }))
  app.get('/stac/api', async (request, reply) =>
    reply.type('application/vnd.oai.openapi+json;version=3.1').send(JSON.stringify(apiDocument(baseUrlOf(facade, request)))),
  )
  app.get('/stac/svc/v1.0.0/schema.json', async (request, reply) =>
    reply.type(SCHEMA_TYPE).send(extensionSchema(extensionUri(baseUrlOf(facade, request)))),
  )
  app.get('/stac/queryables', async (request, reply) => sendQueryables(facade, request, reply, '/stac/queryables', {}))
}

const sendJson = (reply: FastifyReply, invoked: Invoked, document: unknown, type = JSON_TYPE): FastifyReply =>
  send(reply, { ...invoked, headers: { ...invoked.headers, 'Content-Type': type }, body: Buffer.from(JSON.stringify(document)) })

/** Number of newest items that are sampled for their properties. */
const SAMPLED_ITEMS = 100

async function sendQueryables(
  facade: Facade,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  more: Json,
): Promise<FastifyReply> {
  const invoked = await project(facade, 'stac.search', request, reply, () => ({ ...more, limit: SAMPLED_ITEMS }))
  if (invoked.status !== 200) return sendProblem(reply, invoked)
  const { features } = bodyOf<{ features: { properties: Json }[] }>(invoked)
  const seen = features.map(({ properties }) => properties)
  return sendJson(reply, invoked, queryables(`${baseUrlOf(facade, request)}${path}`, seen), SCHEMA_TYPE)
}

function registerCollections(app: FastifyInstance, facade: Facade): void {
  app.get('/stac/collections', async (request, reply) => {
    const invoked = await listCollections(facade, request, reply)
    if (invoked.status !== 200) return sendProblem(reply, invoked)
    if (!facade.dialect) return send(reply, invoked)
    const { collections, ...rest } = bodyOf<{ collections: Json[] }>(invoked)
    const baseUrl = baseUrlOf(facade, request)
    return sendJson(reply, invoked, { ...rest, collections: collections.map((each) => inDialect(facade, invoked, each, baseUrl)) })
  })
  app.get<{ Params: { id: string } }>('/stac/collections/:id', async (request, reply) => {
    const looked = await requireCollection(facade, request, reply)
    if ('refused' in looked) return sendProblem(reply, looked.refused)
    const { collection, invoked } = looked
    return sendJson(reply, invoked, inDialect(facade, invoked, { ...collection }, baseUrlOf(facade, request)))
  })
  app.get<{ Params: { id: string } }>('/stac/collections/:id/queryables', async (request, reply) => {
    const looked = await requireCollection(facade, request, reply)
    if ('refused' in looked) return sendProblem(reply, looked.refused)
    const { id } = looked.collection
    return await sendQueryables(facade, request, reply, `/stac/collections/${id}/queryables`, { collections: [id] })
  })
}

function searchInput(facade: Facade, request: FastifyRequest, parameters: Parameters<typeof toInput>[0]): Json {
  const input = toInput(parameters)
  return { ...(facade.dialect?.toOurs(input) ?? input), ...linkInput(facade, request) }
}

function registerItems(app: FastifyInstance, facade: Facade): void {
  app.get<{ Params: { id: string } }>('/stac/collections/:id/items', async (request, reply) => {
    const { id } = request.params
    const input = () => searchInput(facade, request, { ...fromQuery(queryOf(request)), collections: [id] })
    const invoked = await project(facade, 'stac.search', request, reply, input)
    if (invoked.status === 200 && bodyOf<{ context: { returned: number } }>(invoked).context.returned === 0) {
      // Only after an empty page is it unclear whether the collection exists.
      const looked = await requireCollection(facade, request, reply)
      if ('refused' in looked) return sendProblem(reply, looked.refused)
    }
    const path = `/stac/collections/${encodeURIComponent(id)}`
    const collection: FacadeLink = {
      rel: 'collection',
      href: withKey(`${baseUrlOf(facade, request)}${path}`, keyOf(request)),
      type: JSON_TYPE,
    }
    const place = { path: `${path}/items`, query: { ...queryOf(request) }, posted: null, links: [collection] }
    return sendFeatures(facade, request, reply, invoked, place)
  })
  const getItem = (request: FastifyRequest, reply: FastifyReply, id: string) =>
    project(facade, 'items.get_stac', request, reply, () => ({ item_id: id, ...linkInput(facade, request) }))
  app.get<{ Params: ItemParams }>('/stac/collections/:id/items/:item', async (request, reply) => {
    const invoked = await getItem(request, reply, request.params.item)
    if (invoked.status !== 200) return sendProblem(reply, invoked)
    if (bodyOf<{ collection?: string }>(invoked).collection !== request.params.id)
      throw problem('not-found', 'No such item in this collection')
    return sendItem(facade, request, reply, invoked)
  })
  app.get<{ Params: { item: string } }>('/stac/items/:item', async (request, reply) => {
    const invoked = await getItem(request, reply, request.params.item)
    return invoked.status === 200 ? sendItem(facade, request, reply, invoked) : sendProblem(reply, invoked)
  })
}

export function sendItem(facade: Facade, request: FastifyRequest, reply: FastifyReply, invoked: Invoked): FastifyReply {
  if (!facade.dialect) return send(reply, invoked)
  return sendJson(reply, invoked, inDialect(facade, invoked, bodyOf<Json>(invoked), baseUrlOf(facade, request)), GEOJSON_TYPE)
}

function registerSearch(app: FastifyInstance, facade: Facade): void {
  app.get('/stac/search', async (request, reply) => {
    const query = { ...queryOf(request) }
    const input = () => searchInput(facade, request, fromQuery(query))
    const format = exportFormat(request)
    if (format) return await exportAs(format, facade, request, reply, input)
    const invoked = await project(facade, 'stac.search', request, reply, input)
    return sendFeatures(facade, request, reply, invoked, { path: '/stac/search', query, posted: null, links: [] })
  })
  app.post('/stac/search', READS_BODY, async (request, reply) => {
    let posted: Json = {}
    const invoked = await project(facade, 'stac.search', request, reply, async () => {
      posted = parseBody(await readRequest(request), request.headers['content-type'], request.headers['content-encoding'])
      return searchInput(facade, request, pickParameters(posted))
    })
    return sendFeatures(facade, request, reply, invoked, { path: '/stac/search', query: {}, posted, links: [] })
  })
}
