/** The commercial API of a host: prices, orders, studies and quotations, each of which takes some time. */
import { polygonsOf, sqKmOf } from '#core/area.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { DAY_MS } from '#core/time.ts'
import type { Db } from '#db/tables.ts'
import { cropOf, describeScene, type SceneDescription } from '../scenes/index.ts'
import type { SceneRenderer } from './scene-renderer.ts'
import { centsPerSqKm, propertiesOf } from './feature.ts'
import { faultOf } from './faults.ts'
import { MAX_SQ_KM, type PriceRow, type SandboxHost } from './hosts.ts'
import { sharedArea, type Library } from './library.ts'
import { areaOf, Refusal } from './search.ts'
import { cancel, find, findReference, keep, type Kept, type Kind } from './store.ts'

interface ShopParts {
  readonly db: Db
  readonly host: SandboxHost
  readonly library: Library
  readonly sceneRenderer: SceneRenderer
  readonly now: () => Date
  /** Duration of each step. */
  readonly stepSeconds: () => number
}

type Point = { type: 'Point'; coordinates: Position }

interface OrderBody {
  product: string
  license_type: string
  captures?: { scene_id: string; geometry: AreaGeometry }[]
  area?: AreaGeometry
  params?: Record<string, unknown>
}

interface TaskingBody {
  product: string
  area: AreaGeometry | Point
  params: Record<string, unknown>
  study_option_id?: string
}

/** Maximum pixels of one capture, or of all images of a tasking: minutes of work. Larger areas get larger pixels. */
const MAX_FILE_PX = 64_000_000
/** A scattered area becomes one image per part; beyond this number, neighbours share one. */
const MAX_IMAGES = 20
/** Beyond this the ground can no longer be treated as a plane. */
const MAX_REACH_KM = 250
const MAX_CAPTURES = 50
const MAX_PRICES = 500
/** A point is imaged with this margin around it. */
const POINT_SQ_KM = 1
const MIN_WINDOW_MS = DAY_MS
/** A tasked image is a view around its place that is clipped to the area, so its own size does not matter. */
const VIEW_PX = 512
const KM_PER_DEGREE = 111.32

export class Shop {
  readonly #parts: ShopParts

  constructor(parts: ShopParts) {
    this.#parts = parts
  }

  prices(items: unknown): { prices: object[] } {
    if (!Array.isArray(items) || items.length > MAX_PRICES) throw new Refusal(`items must be a list of at most ${MAX_PRICES}`)
    return {
      prices: items.map((item: Record<string, unknown>) => {
        try {
          return this.#price(item)
        } catch (error) {
          if (error instanceof Refusal) return { error: error.message }
          throw error
        }
      }),
    }
  }

  #price(item: Record<string, unknown>): object {
    const geometry = areaOf(item['geometry'])
    const { now, host } = this.#parts
    const sceneId = item['scene_id']
    const product = String(item['product'] ?? Object.keys(host.prices)[0])
    const row = this.#row(product)
    const shown = typeof sceneId === 'string' ? this.#shown(sceneId, geometry) : null
    if (row.kind === 'archive' && !shown) throw new Refusal('An archive product needs a scene')
    if (!shown) this.#requireSize(geometry)
    return {
      product,
      cents_per_sqkm: shown ? centsPerSqKm(row, shown.scene.datetime, now()) : this.#taskingRate(row, item['params']),
      minimum_sqkm: row.minimumSqKm,
      resolution_class: row.resolutionClass,
      geometry: shown?.area ?? geometry,
      acquired_at: shown?.scene.datetime ?? null,
    }
  }

  #row(product: string): PriceRow {
    const { prices, name } = this.#parts.host
    if (!Object.hasOwn(prices, product)) throw new Refusal(`${name} does not sell '${product}'`)
    return prices[product]!
  }

  #taskingRate({ centsPerSqKm: cents }: PriceRow, params: unknown): number {
    return Math.ceil(cents * ((params as { priority?: unknown } | undefined)?.priority === 'priority' ? 1.5 : 1))
  }

  #shown(sceneId: string, geometry: AreaGeometry): { scene: SceneDescription; area: AreaGeometry } {
    const { library, host } = this.#parts
    const [place] = polygonsOf(geometry)[0]?.[0] ?? []
    const scene = host.isFlaky && faultOf(sceneId) && place ? library.sceneAt(place, '2025-06-12') : library.scene(sceneId)
    if (!scene) throw new Refusal(`No such scene '${sceneId}'`)
    const area = sharedArea(scene, geometry)
    if (!area) throw new Refusal(`The scene '${sceneId}' does not overlap the area`)
    this.#requireSize(area)
    return { scene, area }
  }

  #requireSize(area: AreaGeometry): void {
    const size = sqKmOf(area)
    if (size > MAX_SQ_KM) throw new Refusal(`The area covers ${size.toFixed(1)} km²; the maximum per order is ${MAX_SQ_KM} km²`)
    this.#requireReach(area)
  }

  #requireReach(area: AreaGeometry): void {
    const reach = Math.max(...polygonsOf(area).map((part) => reachKm(asArea([part as Position[][]]))))
    if (reach > MAX_REACH_KM) throw new Refusal(`The area spans ${reach.toFixed(0)} km; the maximum per order is ${MAX_REACH_KM} km`)
  }

  async placeOrder(given: Record<string, unknown>): Promise<object> {
    const body: OrderBody = {
      product: String(given['product']),
      license_type: String(given['license_type'] ?? 'standard'),
      ...(given['captures'] === undefined ? {} : { captures: given['captures'] as NonNullable<OrderBody['captures']> }),
      ...(given['area'] === undefined ? {} : { area: areaOf(given['area']), params: (given['params'] ?? {}) as Record<string, unknown> }),
    }
    const row = this.#row(body.product)
    if (row.kind === 'archive') {
      if (!Array.isArray(body.captures) || body.captures.length === 0 || body.captures.length > MAX_CAPTURES)
        throw new Refusal(`captures must be a list of 1 to ${MAX_CAPTURES}`)
      for (const { scene_id: id, geometry } of body.captures) this.#shown(String(id), areaOf(geometry))
    } else {
      if (!body.area) throw new Refusal('A tasking order needs an area')
      this.#requireReach(body.area)
    }
    const kept = await this.#keep('order', given, body)
    void this.#view(kept, true).catch(() => {}) // Rendering starts before the file is requested.
    return await this.#view(kept)
  }

  async order(id: string): Promise<object> {
    return await this.#view(await this.#find<OrderBody>('order', id))
  }

  async ordersOf(reference: string): Promise<{ orders: object[] }> {
    const { db, host } = this.#parts
    const kept = await findReference<OrderBody>(db, host.name, 'order', reference)
    return { orders: kept ? [await this.#view(kept)] : [] }
  }

  async cancelOrder(id: string): Promise<object> {
    const { db, now } = this.#parts
    const view = (await this.order(id)) as { status: string }
    if (!['placed', 'accepted', 'cancelled'].includes(view.status))
      throw new Refusal(`An order with status ${view.status} cannot be cancelled`)
    await cancel(db, id, now())
    return await this.order(id)
  }

  /** The file of a delivered order; `fault` says how it fails. */
  async file(id: string, fileId: string): Promise<{ path: string; byteLength: number; isHalf: boolean }> {
    const kept = await this.#find<OrderBody>('order', id)
    const { status } = (await this.#view(kept)) as { status: string }
    if (status !== 'delivered' && status !== 'part') throw new Refusal('The order is not delivered yet', 404)
    const ordered = this.#images(kept).find((image) => image.fileId === fileId)
    if (!ordered) throw new Refusal('No such file', 404)
    return { ...(await this.#parts.sceneRenderer.file(ordered.scene)), isHalf: ordered.fault === 'half' }
  }

  /** The images to deliver, by capture. */
  #images(kept: Kept<OrderBody>): { sceneId: string; fileId: string; scene: SceneDescription; fault: string | null }[] {
    const { captures, area } = kept.body
    if (area) {
      const parts = inImages(area)
      return parts.map((part, index) => {
        const scene = this.#tasked(kept, part, { number: index + 1, maxPx: MAX_FILE_PX / parts.length })
        return { sceneId: scene.id, fileId: `image-${index + 1}`, scene, fault: null }
      })
    }
    return (captures ?? []).map(({ scene_id: sceneId, geometry }, index) => {
      const shown = this.#shown(sceneId, geometry)
      const fault = this.#parts.host.isFlaky ? faultOf(sceneId) : null
      return { sceneId, fileId: `image-${index + 1}`, scene: cropOf(shown.scene, shown.area, { maxPx: MAX_FILE_PX }), fault }
    })
  }

  /** A new image of the area, taken on the first day of the window that is not before the order. */
  #tasked(
    { id, createdAt, body }: Kept<OrderBody>,
    area: AreaGeometry,
    { number, maxPx }: { number: number; maxPx: number },
  ): SceneDescription {
    const { library, host } = this.#parts
    const start = Date.parse(String(body.params?.['acquisitionStart'] ?? ''))
    const end = Date.parse(String(body.params?.['acquisitionEnd'] ?? ''))
    const at = Math.max(Number.isNaN(start) ? 0 : start, Math.min(createdAt.getTime(), Number.isNaN(end) ? Infinity : end))
    const [longitude, latitude] = middleOf(area)
    const day = new Date(at).toISOString().slice(0, 10)
    const pass = library.sceneAt([longitude, latitude], day)
    const sensor = host.sensor!
    const datetime = pass?.datetime ?? `${day}T10:30:00Z`
    const name = `${host.name}_tasked_${id}${number === 1 ? '' : `_${number}`}`
    const view = describeScene({ sensor, longitude, latitude, datetime, sizePx: VIEW_PX, id: name })
    return cropOf(view, area, { maxPx, isBounded: false })
  }

  async #view(kept: Kept<OrderBody>, isWarming = false): Promise<object> {
    const steps = this.#stepsSince(kept)
    const answer = { id: kept.id, reference: kept.reference, reason: null, files: [] }
    const waiting = (kept.body.captures ?? []).map(({ scene_id }) => ({ scene_id, status: 'waiting', reason: null }))
    if (kept.cancelledAt) return { ...answer, status: 'cancelled', captures: waiting }
    if (steps < 1 && !isWarming) return { ...answer, status: 'placed', captures: waiting }
    if (steps < 2 && !isWarming) return { ...answer, status: 'accepted', captures: waiting }
    const images = this.#images(kept)
    if (images.some(({ fault }) => fault === 'fail-order'))
      return { ...answer, status: 'failed', reason: 'The vendor could not produce the order', captures: waiting.map(failed) }
    const good = images.filter(({ fault }) => fault !== 'fail-part')
    const files = await Promise.all(good.map(async (image) => ({ image, file: await this.#parts.sceneRenderer.fileSoon(image.scene) })))
    if (files.some(({ file }) => !file)) return { ...answer, status: 'accepted', captures: waiting }
    const isWhole = good.length === images.length
    return {
      ...answer,
      status: good.length === 0 ? 'failed' : isWhole ? 'delivered' : 'part',
      reason: isWhole ? null : 'Some scenes could not be produced',
      captures: images.map(({ sceneId, fault }) => {
        const about = { scene_id: sceneId, status: 'delivered', reason: null }
        return fault === 'fail-part' ? failed(about) : about
      }),
      files: files.map(({ image, file }) => this.#fileView(image, file!.byteLength)),
    }
  }

  #fileView({ sceneId, fileId, scene }: { sceneId: string; fileId: string; scene: SceneDescription }, byteLength: number): object {
    return {
      id: fileId,
      file_name: `${sceneId}_${fileId}.tif`,
      scene_id: sceneId,
      media_type: 'image/tiff; application=geotiff; profile=cloud-optimized',
      bytes: byteLength,
      geometry: scene.footprint,
      datetime: scene.datetime,
      cloud_cover: scene.cloudCover,
      bands: scene.bands.map(({ name, role }) => ({ name, role })),
      properties: propertiesOf(this.#parts.host, scene),
    }
  }

  async requestStudy(given: Record<string, unknown>): Promise<object> {
    return this.#studyView(await this.#keep('study', given, this.#tasking(given)))
  }

  async study(id: string): Promise<object> {
    return this.#studyView(await this.#find<TaskingBody>('study', id))
  }

  #studyView(kept: Kept<TaskingBody>): object {
    const answer = { id: kept.id, reference: kept.reference, reason: null, options: [] }
    if (this.#stepsSince(kept) < 1) return { ...answer, status: 'waiting' }
    const { start, end, cloud, angle } = windowOf(kept.body.params)
    if (end - start < MIN_WINDOW_MS) return { ...answer, status: 'infeasible', reason: 'The window is shorter than a day' }
    if (cloud < 5) return { ...answer, status: 'infeasible', reason: 'Less than 5% cloud cover cannot be guaranteed' }
    const cents = this.#taskingCents(kept.body)
    const option = (name: string, until: number, factor: number, maxCloud: number, description: string) => ({
      id: `${kept.id}:${name}`,
      description,
      cents: Math.ceil(cents * factor),
      acquisition_start: new Date(start).toISOString(),
      acquisition_end: new Date(until).toISOString(),
      max_cloud_cover: maxCloud,
      max_off_nadir_deg: angle,
    })
    return {
      ...answer,
      status: 'answered',
      options: [
        option('whole', end, 1, cloud, `The whole window, at most ${cloud}% cloud cover`),
        option('early', start + (end - start) / 2, 1.35, cloud, `Within the first half of the window, at most ${cloud}% cloud cover`),
        option(
          'clear',
          end,
          1.6,
          Math.max(5, Math.floor(cloud / 2)),
          `The whole window, at most ${Math.max(5, Math.floor(cloud / 2))}% cloud cover`,
        ),
      ],
    }
  }

  async requestQuotation(given: Record<string, unknown>): Promise<object> {
    return this.#quotationView(await this.#keep('quotation', given, this.#tasking(given)))
  }

  async quotation(id: string): Promise<object> {
    return this.#quotationView(await this.#find<TaskingBody>('quotation', id))
  }

  #quotationView(kept: Kept<TaskingBody>): object {
    const answer = { id: kept.id, reference: kept.reference, reason: null, cents: null }
    if (this.#stepsSince(kept) < 1) return { ...answer, status: 'waiting' }
    const { start, end } = windowOf(kept.body.params)
    if (end - start < MIN_WINDOW_MS) return { ...answer, status: 'refused', reason: 'The window is shorter than a day' }
    const factor = { early: 1.35, clear: 1.6 }[String(kept.body.study_option_id).split(':')[1] ?? ''] ?? 1
    return { ...answer, status: 'issued', cents: Math.ceil(this.#taskingCents(kept.body) * factor * 1.05) }
  }

  #tasking(given: Record<string, unknown>): TaskingBody {
    const product = String(given['product'])
    if (this.#row(product).kind !== 'tasking') throw new Refusal(`'${product}' is not a tasking product`)
    const shape = given['area'] as { type?: unknown; coordinates?: unknown } | undefined
    const area = shape?.type === 'Point' && Array.isArray(shape.coordinates) ? (shape as Point) : areaOf(shape)
    if (area.type !== 'Point') this.#requireReach(area)
    const params = (given['params'] ?? {}) as Record<string, unknown>
    windowOf(params)
    return { product, area, params, ...(typeof given['study_option_id'] === 'string' ? { study_option_id: given['study_option_id'] } : {}) }
  }

  #taskingCents({ product, area, params }: TaskingBody): number {
    const row = this.#row(product)
    const sqKm = area.type === 'Point' ? POINT_SQ_KM : sqKmOf(area)
    return Math.ceil(this.#taskingRate(row, params) * Math.max(sqKm, row.minimumSqKm))
  }

  #stepsSince({ createdAt }: Kept<object>): number {
    const { now, stepSeconds } = this.#parts
    const seconds = (now().getTime() - createdAt.getTime()) / 1000
    return stepSeconds() === 0 ? Infinity : seconds / stepSeconds()
  }

  async #keep<B extends object>(kind: Kind, { reference }: Record<string, unknown>, body: B): Promise<Kept<B>> {
    if (typeof reference !== 'string' || reference === '') throw new Refusal('reference is missing')
    const { db, host, now } = this.#parts
    return await keep(db, { host: host.name, kind, reference, body }, now())
  }

  async #find<B extends object>(kind: Kind, id: string): Promise<Kept<B>> {
    const stored = await find<B>(this.#parts.db, this.#parts.host.name, kind, id)
    if (!stored) throw new Refusal(`No such ${kind}`, 404)
    return stored
  }
}

const failed = (capture: { scene_id: string }) => ({ ...capture, status: 'failed', reason: 'The vendor could not produce the scene' })

function windowOf(params: Record<string, unknown>): { start: number; end: number; cloud: number; angle: number } {
  const start = Date.parse(String(params['acquisitionStart']))
  const end = Date.parse(String(params['acquisitionEnd']))
  if (Number.isNaN(start) || Number.isNaN(end)) throw new Refusal('params needs acquisitionStart and acquisitionEnd')
  if (end < start) throw new Refusal('acquisitionEnd must be after acquisitionStart')
  return { start, end, cloud: Number(params['cloudCoverage'] ?? 15), angle: Number(params['maxOffNadirAngle'] ?? 25) }
}

function boxOf(area: AreaGeometry): [number, number, number, number] {
  const positions = polygonsOf(area).flat(2)
  const xs = positions.map(([x]) => x)
  const ys = positions.map(([, y]) => y)
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

function middleOf(area: AreaGeometry): Position {
  const [west, south, east, north] = boxOf(area)
  return [(west + east) / 2, (south + north) / 2]
}

/** The parts of an area from west to east, grouped where there are many, but never wider than allowed. */
function inImages(area: AreaGeometry): AreaGeometry[] {
  const parts = (polygonsOf(area) as Position[][][]).toSorted((a, b) => boxOf(asArea([a]))[0] - boxOf(asArea([b]))[0])
  const size = Math.ceil(parts.length / MAX_IMAGES)
  const lots: Position[][][][] = []
  for (const part of parts) {
    const lot = lots.at(-1)
    if (lot && lot.length < size && reachKm(asArea([...lot, part])) <= MAX_REACH_KM) lot.push(part)
    else lots.push([part])
  }
  return lots.map(asArea)
}

const asArea = (parts: Position[][][]): AreaGeometry =>
  parts.length === 1 ? { type: 'Polygon', coordinates: parts[0]! } : { type: 'MultiPolygon', coordinates: parts }

/** The longer side of the bounding box of an area. */
function reachKm(area: AreaGeometry): number {
  const [west, south, east, north] = boxOf(area)
  const nearest = south <= 0 && north >= 0 ? 0 : Math.min(Math.abs(south), Math.abs(north))
  return KM_PER_DEGREE * Math.max(north - south, (east - west) * Math.cos((nearest * Math.PI) / 180))
}
