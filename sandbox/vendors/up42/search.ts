/** The catalogue of the simulated UP42: each host is searched by itself. */
import type { FastifyInstance } from 'fastify'
import type { AreaGeometry } from '#core/geometry.ts'
import type { SceneDescription } from '../../scenes/index.ts'
import { COLLECTIONS, type SimulatedCollection } from './glossary.ts'
import { Refused, type Up42Simulator } from './simulator.ts'

interface SearchBody {
  bbox?: [number, number, number, number]
  intersects?: AreaGeometry
  datetime?: string
  limit?: number
  query?: Record<string, Record<string, number>>
  ids?: string[]
  collections?: string[]
}

const MAX_LIMIT = 500
const DEFAULT_LIMIT = 10
const PICTURE_PX = 160

const invalid = (message: string) => new Refused(422, message, true)

const TESTS: Readonly<Record<string, (cover: number, limit: number) => boolean>> = {
  LT: (cover, limit) => cover < limit,
  LTE: (cover, limit) => cover <= limit,
  GT: (cover, limit) => cover > limit,
  GTE: (cover, limit) => cover >= limit,
}

function cloudTest({ query = {} }: SearchBody): (cover: number | null) => boolean {
  const { cloudCoverage = {}, ...others } = query
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalid(`query: ${unknown} is not supported`)
  const tests = Object.entries(cloudCoverage).map(([operator, limit]) => {
    const test = Object.hasOwn(TESTS, operator) ? TESTS[operator] : undefined
    if (!test) throw invalid(`query: ${operator} is no operator`)
    return (cover: number) => test(cover, limit)
  })
  return (cover) => tests.length === 0 || (cover !== null && tests.every((test) => test(cover)))
}

function datesOf({ datetime }: SearchBody): { from: Date | null; to: Date | null } {
  const [start = '..', end = start] = (datetime ?? '../..').split('/')
  const read = (text: string) => (text === '..' ? null : new Date(text))
  const dates = { from: read(start), to: read(end) }
  if ([dates.from, dates.to].some((date) => date && Number.isNaN(date.getTime()))) throw invalid('datetime must be RFC 3339')
  return dates
}

const featureOf = ({ name, producer }: SimulatedCollection, scene: SceneDescription) => ({
  type: 'Feature',
  geometry: scene.footprint,
  bbox: scene.bbox,
  properties: {
    id: scene.id,
    collection: name,
    constellation: name.toUpperCase(),
    producer,
    datetime: scene.datetime,
    cloudCoverage: scene.cloudCover,
    resolution: scene.gsdM,
    deliveryTime: 'MINUTES',
    providerProperties: { incidenceAngle: scene.offNadirDeg },
  },
})

async function search(simulator: Up42Simulator, host: string, body: SearchBody, offset: number) {
  const hosted = COLLECTIONS.filter((each) => each.type === 'ARCHIVE' && each.host === host)
  if (hosted.length === 0) throw new Refused(404, `Host ${host} not found`)
  if (body.bbox && body.intersects) throw invalid('Only one of bbox and intersects can be used')
  if (body.intersects && body.intersects.type !== 'Polygon') throw invalid('intersects must be a Polygon')
  const { limit = DEFAULT_LIMIT } = body
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) throw invalid('limit must be from 1 to 500')
  const collection = hosted.find(({ name }) => !body.collections || body.collections.includes(name))
  if (!collection) return { features: [], next: null }
  const { bbox, intersects, ids } = body
  const { scenes } = await simulator.library(collection.name).search({
    ...(bbox ? { bbox } : {}),
    ...(intersects ? { intersects } : {}),
    ...(ids ? { ids } : {}),
    ...datesOf(body),
    accepts: cloudTest(body),
    limit: offset + limit + 1,
  })
  const features = scenes.slice(offset, offset + limit).map((scene) => featureOf(collection, scene))
  return { features, next: scenes.length > offset + limit ? offset + limit : null }
}

export function serveSearch(app: FastifyInstance, simulator: Up42Simulator): void {
  type Route = { Params: { host: string }; Querystring: { next?: string }; Body: SearchBody }
  app.post<Route>('/catalog/hosts/:host/stac/search', async ({ params, query, body }) => {
    const { features, next } = await search(simulator, params.host, body, Number(query.next ?? 0))
    const href = `${simulator.base}/catalog/hosts/${params.host}/stac/search`
    const links = [{ rel: 'self', href }, ...(next === null ? [] : [{ rel: 'next', href: `${href}?next=${next}` }])]
    return { type: 'FeatureCollection', features, links }
  })
  app.get<{ Params: { host: string; scene: string } }>('/catalog/:host/image/:scene/quicklook', async ({ params }, reply) => {
    const found = simulator.scene(params.scene)
    if (found?.collection.host !== params.host) throw new Refused(404, 'Image not found')
    return reply.type('image/png').send(Buffer.from(await simulator.renderer.picture(found.scene, PICTURE_PX)))
  })
}
