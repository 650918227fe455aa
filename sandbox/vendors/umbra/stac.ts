/** The two STAC APIs of the simulated Umbra: the archive that everybody can search, and the deliveries of the account. */
import type { FastifyInstance } from 'fastify'
import type { AreaGeometry } from '#core/geometry.ts'
import type { SceneDescription } from '../../scenes/index.ts'
import { sha256Of, type FileKind, type PlacedTask, type UmbraSimulator } from './simulator.ts'
import { invalid, Refused } from '../refused.ts'

const VERSION = '1.0.0'
const COLLECTION = 'umbra-sar'
const PICTURE_PX = 160
const DEFAULT_LIMIT = 10
const MAX_LIMIT = 10_000
/** With more items in a response, links are not signed. */
const MAX_SIGNED = 5
const GEO_JSON = 'application/geo+json'

interface SearchBody {
  readonly collections?: readonly string[]
  readonly ids?: readonly string[]
  readonly bbox?: [number, number, number, number]
  readonly intersects?: AreaGeometry
  readonly datetime?: string
  readonly limit?: number
  readonly token?: string
  readonly 'filter-lang'?: string
  readonly filter?: { readonly op: string; readonly args: readonly [{ readonly property: string }, unknown] }
}

export function serveArchive(app: FastifyInstance, simulator: UmbraSimulator): void {
  app.post<{ Body: SearchBody }>('/archive/search', async ({ body }, reply) =>
    reply.type(GEO_JSON).send(await searchArchive(simulator, body)),
  )
  app.get<{ Params: { archive_id: string } }>('/archive/thumbnail/:archive_id', async ({ params }, reply) => {
    const scene = simulator.sceneOf(params.archive_id)
    if (!scene) throw new Refused(404, 'Thumbnail not found')
    return reply.type('image/png').send(Buffer.from(await simulator.renderer.picture(scene, PICTURE_PX)))
  })
}

async function searchArchive(simulator: UmbraSimulator, body: SearchBody) {
  const { ids, bbox, intersects, limit = DEFAULT_LIMIT } = body
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) throw invalid('limit', 'Input should be greater than 0')
  if (bbox && intersects) throw invalid('intersects', 'intersects and bbox are mutually exclusive')
  const isWanted = body.collections?.includes(COLLECTION) ?? true
  if (ids) {
    const known = isWanted ? ids.flatMap((id) => simulator.sceneOf(id) ?? []) : []
    return page(simulator, known.slice(0, limit), body, null)
  }
  const offset = Number(body.token ?? 0)
  const place = { ...(bbox ? { bbox } : {}), ...(intersects ? { intersects } : {}) }
  const query = { ...place, ...datesOf(body), accepts: () => true, limit: offset + limit + 1 }
  const scenes = isWanted ? (await simulator.library.search(query)).scenes : []
  return page(simulator, scenes.slice(offset, offset + limit), body, scenes.length > offset + limit ? offset + limit : null)
}

function page(simulator: UmbraSimulator, scenes: readonly SceneDescription[], body: SearchBody, next: number | null) {
  const href = `${simulator.base}/archive/search`
  const links = [{ rel: 'self', href, type: GEO_JSON }]
  const more = next === null ? [] : [{ rel: 'next', href, type: GEO_JSON, method: 'POST', body: { ...body, token: String(next) } }]
  const features = scenes.map((scene) => archiveItem(simulator, scene))
  return { type: 'FeatureCollection', features, links: [...links, ...more] }
}

function datesOf({ datetime }: SearchBody): { from: Date | null; to: Date | null } {
  const [start = '..', end = start] = (datetime ?? '../..').split('/')
  const read = (text: string) => (text === '..' ? null : new Date(text))
  const dates = { from: read(start), to: read(end) }
  if ([dates.from, dates.to].some((date) => date && Number.isNaN(date.getTime()))) throw invalid('datetime', 'Invalid datetime')
  return dates
}

const radarProperties = (scene: SceneDescription) => ({
  datetime: scene.datetime,
  start_datetime: scene.datetime,
  end_datetime: scene.datetime,
  platform: 'Umbra-05',
  constellation: 'umbra',
  'sar:instrument_mode': 'SPOTLIGHT',
  'sar:frequency_band': 'X',
  'sar:polarizations': ['VV'],
  'sar:product_type': 'GEC',
  'sar:resolution_range': 1,
  'sar:resolution_azimuth': 1,
  'view:incidence_angle': 38,
  'umbra:grazing_angle_degrees': 52,
})

function archiveItem(simulator: UmbraSimulator, scene: SceneDescription) {
  const { itemId, collectId } = simulator.idsOf(scene)
  return {
    type: 'Feature',
    stac_version: VERSION,
    stac_extensions: ['https://stac-extensions.github.io/sar/v1.0.0/schema.json'],
    id: itemId,
    collection: COLLECTION,
    geometry: scene.footprint,
    bbox: scene.bbox,
    properties: { ...radarProperties(scene), 'umbra:collect_id': collectId },
    links: [{ rel: 'self', href: `${simulator.base}/archive/collections/${COLLECTION}/items/${itemId}`, type: GEO_JSON }],
    assets: {},
  }
}

export function serveDeliveries(app: FastifyInstance, simulator: UmbraSimulator): void {
  app.post<{ Body: SearchBody }>('/v2/stac/search', async ({ body }, reply) => {
    const { filter, limit = DEFAULT_LIMIT } = body
    if (filter && (body['filter-lang'] !== 'cql2-json' || filter.op !== '=')) throw invalid('filter', 'Only = of cql2-json is simulated')
    const [name, value] = filter ? [filter.args[0].property, filter.args[1]] : [null, null]
    const found = await delivered(simulator, (task) => name === null || (idsOf(simulator, task) as Record<string, unknown>)[name] === value)
    const items = await Promise.all(found.slice(0, limit).map((task) => itemOf(simulator, task, found.length <= MAX_SIGNED)))
    return reply.type(GEO_JSON).send({ type: 'FeatureCollection', features: items, links: [] })
  })
  type One = { Params: { collection_id: string; item_id: string } }
  app.get<One>('/v2/stac/collections/:collection_id/items/:item_id', async ({ params }, reply) => {
    const [task] = await delivered(simulator, ({ itemId }) => itemId === params.item_id)
    if (!task || params.collection_id !== COLLECTION) throw new Refused(404, 'Item not found')
    return reply.type(GEO_JSON).send(await itemOf(simulator, task, true))
  })
}

async function delivered(simulator: UmbraSimulator, isWanted: (task: PlacedTask) => boolean): Promise<PlacedTask[]> {
  const wanted = simulator.tasks.filter(isWanted)
  const states = await Promise.all(wanted.map((task) => simulator.isDelivered(task)))
  return wanted.filter((_task, index) => states[index])
}

const idsOf = ({ faults }: UmbraSimulator, { id, collectId }: PlacedTask) => ({
  'umbra:collect_id': collectId,
  ...(faults.hasNoTaskIds ? {} : { 'umbra:task_id': id }),
})

/** The image has its signed link beside the address in the bucket, the description instead of it. */
async function itemOf(simulator: UmbraSimulator, task: PlacedTask, isSigned: boolean) {
  const { faults } = simulator
  const scene = simulator.shownIn(task)
  const files = await simulator.files(task)
  const asset = (kind: FileKind, fields: object) => {
    const { name, type, bytes } = files[kind]
    const sizes = { 'file:size': bytes.length, 'file:checksum': `1220${sha256Of(bytes)}` }
    return [name, { href: `s3://prod-collects/${task.id}/${name}`, type, roles: ['data'], ...sizes, ...fields }] as const
  }
  const link = (kind: FileKind) => (isSigned ? simulator.signedLink(task.id, kind) : null)
  const [image, metadata] = [link('image'), link('metadata')]
  const lies = {
    ...(faults.extraBytes === 0 ? {} : { 'file:size': files.image.bytes.length + faults.extraBytes }),
    ...(faults.checksum === null ? {} : { 'file:checksum': faults.checksum }),
  }
  return {
    type: 'Feature',
    stac_version: VERSION,
    stac_extensions: ['https://stac-extensions.github.io/file/v2.1.0/schema.json'],
    id: task.itemId,
    collection: COLLECTION,
    geometry: scene.footprint,
    bbox: scene.bbox,
    properties: { ...radarProperties(scene), 'umbra:organization_id': 'org-of-a-test', ...idsOf(simulator, task) },
    links: [{ rel: 'self', href: `${simulator.base}/v2/stac/collections/${COLLECTION}/items/${task.itemId}`, type: GEO_JSON }],
    assets: Object.fromEntries([
      asset('image', { title: 'GEC', ...(image ? { alternate: { s3_signed: { href: image } } } : {}), ...lies }),
      asset('metadata', { title: 'METADATA', ...(metadata ? { href: metadata } : {}) }),
    ]),
  }
}
