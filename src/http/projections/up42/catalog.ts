/**
 * The catalogues of all hosts as one STAC API, for UP42's `catalog_client`. A search queries one host after another: each page is
 * a `catalog.search` at one host, which its cursor names.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound, invalidField, unknownName } from '#core/problem.ts'
import { STAC_VERSION, type Link } from '#core/stac.ts'
import { parseBody } from '#http/body.ts'
import { send } from '#http/operations.ts'
import { project, queryOf } from '#http/projections/project.ts'
import type { RouteParts } from '#http/parts.ts'
import { bodyOf, sendProblem } from '#http/projections/stac/responses.ts'
import { GEOJSON_TYPE, JSON_TYPE } from '#http/projections/stac/documents.ts'
import { fromQuery, pickParameters } from '#http/projections/stac/query.ts'
import { READS_BODY, readRequest } from '#http/read-body.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import type { Json } from './route.ts'

const MOUNT = '/v2/catalog'
const API = 'https://api.stacspec.org/v1.0.0'
const CONFORMANCE = [`${API}/core`, `${API}/collections`, `${API}/item-search`, `${API}/item-search#query`]

interface Source {
  host_name: string
  access_model: 'open' | 'commercial'
  status: 'reachable' | 'unreachable' | 'unknown'
  collections: { id: string; title: string; description: string; gsd: number | null }[]
}
type SearchParameters = ReturnType<typeof pickParameters>

export function registerUp42Catalog(app: FastifyInstance, parts: RouteParts): void {
  const root = () => `${parts.platform.baseUrl()}${MOUNT}`
  const landing = async (request: FastifyRequest, reply: FastifyReply) => {
    const { invoked } = await sourcesOf(parts, request, reply)
    return invoked.status === 200 ? sendJson(reply, invoked, landingPage(root())) : sendProblem(reply, invoked)
  }
  app.get(MOUNT, landing)
  app.get(`${MOUNT}/`, landing)
  app.get(`${MOUNT}/conformance`, async (_request, reply) => reply.type(JSON_TYPE).send({ conformsTo: CONFORMANCE }))
  app.get(`${MOUNT}/collections`, async (request, reply) => {
    const { invoked, sources } = await sourcesOf(parts, request, reply)
    if (invoked.status !== 200) return sendProblem(reply, invoked)
    const links = [link('self', `${root()}/collections`), link('root', root())]
    return sendJson(reply, invoked, { collections: collectionsOf(sources, root()), links })
  })
  app.get<{ Params: { id: string } }>(`${MOUNT}/collections/:id`, async (request, reply) => {
    const { invoked, sources } = await sourcesOf(parts, request, reply)
    if (invoked.status !== 200) return sendProblem(reply, invoked)
    requireKnown(sources, [request.params.id])
    return sendJson(
      reply,
      invoked,
      collectionsOf(sources, root()).find(({ id }) => id === request.params.id)!,
    )
  })
  app.get<SceneRoute>(`${MOUNT}/collections/:id/items/:item`, (request, reply) => sendScene(parts, request, reply, root()))
  app.get(`${MOUNT}/search`, (request, reply) => search(parts, request, reply, root()))
  app.post(`${MOUNT}/search`, READS_BODY, (request, reply) => search(parts, request, reply, root()))
}

interface SceneRoute {
  Params: { id: string; item: string }
}

/** Authorizes the search before `afterwards` reads the body. */
async function sourcesOf(
  parts: RouteParts,
  request: FastifyRequest,
  reply: FastifyReply,
  afterwards: () => Promise<void> = async () => {},
): Promise<{ invoked: Invoked; sources: Source[] }> {
  const invoked = await project(parts, 'catalog.sources.list', request, reply, async () => {
    await afterwards()
    return {}
  })
  return { invoked, sources: invoked.status === 200 ? bodyOf<{ sources: Source[] }>(invoked).sources : [] }
}

const link = (rel: string, href: string, type = JSON_TYPE, more: object = {}): Link => ({ rel, href, type, ...more })

const sendJson = (reply: FastifyReply, invoked: Invoked, document: unknown, type = JSON_TYPE): FastifyReply =>
  send(reply, { ...invoked, headers: { ...invoked.headers, 'Content-Type': type }, body: Buffer.from(JSON.stringify(document)) })

const landingPage = (root: string) => ({
  type: 'Catalog',
  stac_version: STAC_VERSION,
  id: 'catalog',
  title: 'Catalogue',
  description: 'Scenes of all searchable hosts.',
  conformsTo: CONFORMANCE,
  links: [
    link('self', root),
    link('root', root),
    link('conformance', `${root}/conformance`),
    link('data', `${root}/collections`),
    link('search', `${root}/search`, GEOJSON_TYPE, { method: 'GET' }),
    link('search', `${root}/search`, GEOJSON_TYPE, { method: 'POST' }),
  ],
})

/** One per name: two hosts can have the same collection, and a search queries both. */
function collectionsOf(sources: readonly Source[], root: string) {
  const all = sources.flatMap(({ access_model, collections }) =>
    collections.map(({ id, title, description, gsd }) => ({
      type: 'Collection',
      stac_version: STAC_VERSION,
      id,
      title,
      description: description || title,
      license: access_model === 'open' ? 'various' : 'proprietary',
      extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
      ...(gsd === null ? {} : { summaries: { gsd: [gsd] } }),
      links: [link('self', `${root}/collections/${encodeURIComponent(id)}`), link('root', root), link('parent', root)],
    })),
  )
  return [...new Map(all.toReversed().map((collection) => [collection.id, collection])).values()].toReversed()
}

function requireKnown(sources: readonly Source[], requested: readonly string[]): void {
  const known = [...new Set(sources.flatMap(({ collections }) => collections.map(({ id }) => id)))]
  const unknown = requested.find((id) => !known.includes(id))
  if (unknown !== undefined) throw unknownName('collection', unknown, known, `the collections are at ${MOUNT}/collections`)
}

const withAny = (sources: readonly Source[], requested: readonly string[] | null): Source[] =>
  sources.filter(({ collections }) => requested === null || collections.some(({ id }) => requested.includes(id)))

async function sendScene(parts: RouteParts, request: FastifyRequest<SceneRoute>, reply: FastifyReply, root: string): Promise<FastifyReply> {
  const { id: collection, item } = request.params
  const { invoked, sources } = await sourcesOf(parts, request, reply)
  if (invoked.status !== 200) return sendProblem(reply, invoked)
  requireKnown(sources, [collection])
  for (const { host_name } of withAny(sources, [collection])) {
    const invoked = await project(parts, 'catalog.item.get', request, reply, () => ({ host_name, id: item }))
    if (invoked.status === 404) continue
    if (invoked.status !== 200) return sendProblem(reply, invoked)
    const scene = bodyOf<Scene>(invoked)
    if (scene.collection === collection) return sendJson(reply, invoked, itemOf(scene, root), GEOJSON_TYPE)
  }
  throw notFound('scene')
}

interface Scene {
  id: string
  collection: string
  assets: Record<string, object>
  links: { rel: string; href: string; type: string }[]
}

/** A scene as a STAC item, with its preview images as assets. */
function itemOf(scene: Scene, root: string): Json {
  const collection = `${root}/collections/${encodeURIComponent(scene.collection)}`
  const preview = (rel: string, roles: string[]) => {
    const picked = scene.links.find((each) => each.rel === rel)
    return picked ? { href: picked.href, type: picked.type, roles } : null
  }
  const [thumbnail, quicklook] = [preview('thumbnail', ['thumbnail']), preview('preview', ['overview'])]
  return {
    ...scene,
    stac_extensions: [],
    assets: { ...(thumbnail ? { thumbnail } : {}), ...(quicklook ? { quicklook } : {}), ...scene.assets },
    links: [
      link('self', `${collection}/items/${encodeURIComponent(scene.id)}`, GEOJSON_TYPE),
      link('root', root),
      link('parent', collection),
      link('collection', collection),
      ...scene.links,
    ],
  }
}

const MAX_PAGE = 500
const DEFAULT_PAGE = 100

/** The host where a page starts, and the host's own cursor. */
interface PageStart {
  host: string
  next: string | null
}

const encodeToken = (start: PageStart): string => Buffer.from(JSON.stringify(start)).toString('base64url')

function decodeToken(token: unknown): PageStart | null {
  if (token === undefined || token === null) return null
  try {
    const { host, next } = JSON.parse(Buffer.from(String(token), 'base64url').toString()) as Partial<PageStart>
    if (typeof host === 'string' && (next === null || typeof next === 'string')) return { host, next }
  } catch {
    // Rejected below, like any other invalid cursor.
  }
  throw invalidField('token', 'must be the token of a next link')
}

async function search(parts: RouteParts, request: FastifyRequest, reply: FastifyReply, root: string): Promise<FastifyReply> {
  const isPost = request.method === 'POST'
  let posted: Json = {}
  let parsed: HostSearch | null = null
  const { invoked, sources } = await sourcesOf(parts, request, reply, async () => {
    const { headers } = request
    if (isPost) posted = parseBody(await readRequest(request), headers['content-type'], headers['content-encoding'])
    parsed = parseSearch(isPost ? pickParameters(posted) : fromQuery({ ...queryOf(request) }))
  })
  if (invoked.status !== 200) return sendProblem(reply, invoked)
  const page = await firstPage({ parts, request, reply }, { invoked, sources }, parsed!)
  if ('refused' in page) return sendProblem(reply, page.refused)
  const document = {
    type: 'FeatureCollection',
    features: page.scenes.map((scene) => itemOf(scene, root)),
    numberReturned: page.scenes.length,
    ...(page.silent.length > 0 ? { 'svc:silent_hosts': page.silent } : {}),
    links: [link('root', root), ...(page.next ? [nextLink(request, root, isPost ? posted : null, encodeToken(page.next))] : [])],
  }
  return sendJson(reply, page.invoked, document, GEOJSON_TYPE)
}

function nextLink(request: FastifyRequest, root: string, posted: Json | null, token: string): Link {
  if (posted) return link('next', `${root}/search`, GEOJSON_TYPE, { method: 'POST', body: { ...posted, token }, merge: false })
  const parameters = new URLSearchParams(new URL(request.url, root).search)
  parameters.delete('key')
  parameters.set('token', token)
  return link('next', `${root}/search?${parameters}`, GEOJSON_TYPE, { method: 'GET' })
}

interface HostSearch {
  collections: string[] | null
  place: PageStart | null
  /** The input of `catalog.search`, for any host. */
  input: Json
}

function parseSearch({ collections, token, query, bbox, limit, filter, sortby, ids, datetime, intersects }: SearchParameters): HostSearch {
  if (filter !== undefined) throw invalidField('filter', 'is not supported; use query, such as {"eo:cloud_cover": {"lt": 20}}')
  if (sortby !== undefined) throw invalidField('sortby', 'is not supported: results are grouped by host, newest first')
  const list = (value: unknown) => (value === undefined ? null : [value].flat().map(String))
  const named = list(collections)
  return {
    collections: named && named.length > 0 ? named : null,
    place: decodeToken(token),
    input: {
      ...(named && named.length > 0 ? { collections: named } : {}),
      ...(ids === undefined ? {} : { ids: list(ids) }),
      ...(datetime === undefined ? {} : { datetime }),
      ...(bbox === undefined ? {} : { bbox: Array.isArray(bbox) && bbox.length === 6 ? [bbox[0], bbox[1], bbox[3], bbox[4]] : bbox }),
      ...(intersects === undefined ? {} : { intersects }),
      ...(query === undefined ? {} : { query: cloudQuery(query) }),
      limit: typeof limit === 'number' ? Math.min(limit, MAX_PAGE) : (limit ?? DEFAULT_PAGE),
    },
  }
}

const CLOUDS = 'eo:cloud_cover'

/** Converts `{"eo:cloud_cover": {"lt": 20}}`; some clients send the number as a string. */
function cloudQuery(query: unknown): Json {
  const entries = typeof query === 'object' && query !== null ? Object.entries(query) : []
  const [entry] = entries
  const comparisons = Object.entries((entry?.[1] ?? {}) as Json)
  if (entries.length !== 1 || entry![0] !== CLOUDS || comparisons.length !== 1)
    throw invalidField('query', `must be ${CLOUDS} with one of lt, lte, gt and gte, such as {"${CLOUDS}": {"lt": 20}}`)
  const [[operator, percent]] = comparisons as [[string, unknown]]
  return { cloudCoverage: { [operator.toUpperCase()]: typeof percent === 'string' && percent.trim() !== '' ? Number(percent) : percent } }
}

type SearchResult = { refused: Invoked } | { invoked: Invoked; scenes: Scene[]; next: PageStart | null; silent: string[] }

const FAILED_HOST = [502, 503, 504]

/**
 * The next page with scenes. Clients treat an empty page as the last, so hosts without results are skipped. If no collection was
 * requested, hosts that do not respond are skipped, too, and the response names them.
 */
async function firstPage(
  { parts, request, reply }: { parts: RouteParts; request: FastifyRequest; reply: FastifyReply },
  { invoked: listed, sources }: { invoked: Invoked; sources: readonly Source[] },
  { collections, place, input }: HostSearch,
): Promise<SearchResult> {
  if (collections) requireKnown(sources, collections)
  const asked = withAny(sources, collections)
  const hosts = asked.map(({ host_name }) => host_name)
  const start = place ? hosts.indexOf(place.host) : 0
  if (start < 0) throw invalidField('token', 'must be sent with the search that returned it')
  const silent: string[] = []
  let [answered, refused]: (Invoked | null)[] = [null, null]
  for (const [index, host_name] of hosts.entries()) {
    if (index < start) continue
    if (collections === null && asked[index]!.status === 'unreachable') {
      silent.push(host_name)
      continue
    }
    const next = index === start ? (place?.next ?? null) : null
    const invoked = await project(parts, 'catalog.search', request, reply, () => ({ ...input, host_name, ...(next ? { next } : {}) }))
    if (FAILED_HOST.includes(invoked.status) && collections === null) {
      silent.push(host_name)
      refused = invoked
    } else if (invoked.status !== 200) return { refused: invoked }
    else {
      const { features, links } = bodyOf<{ features: Scene[]; links: { rel: string; body?: { next: string } }[] }>(invoked)
      const cursor = links.find(({ rel }) => rel === 'next')?.body?.next
      const following = hosts[index + 1]
      const onwards = cursor ? { host: host_name, next: cursor } : following ? { host: following, next: null } : null
      if (features.length > 0) return { invoked, scenes: features, next: onwards, silent }
      answered = invoked
    }
  }
  // After a page with scenes, an unavailable last host ends the search without an error.
  return place === null && !answered && refused ? { refused } : { invoked: answered ?? listed, scenes: [], next: null, silent }
}
