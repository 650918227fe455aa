/**
 * Orders at Umbra: radar scenes of the archive and new images, each a task that delivers one georeferenced image. Umbra has no prices in
 * its API: it bills a contract, so that what we resell has the operator's own rates.
 */
import { clipToConvex, sqKmOf } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { convexHull } from '#core/wkt.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { Scene } from '#ports/vendors/catalog.ts'
import type { PriceRequest, PriceResult, VendorOrder, VendorOrderRequest, VendorPrice, VendorShop } from '#ports/vendors/shop.ts'
import type { Product } from '#ports/vendors/source.ts'
import type { Study, TaskingRequest } from '#ports/vendors/tasking.ts'
import type { AccountCheck } from '#ports/vendors/vendors.ts'
import { collectOf } from './catalog.ts'
import { deliveryOf, linkOf, type Delivery } from './delivery.ts'
import type { Scenes } from './scenes.ts'
import { standingOf } from './states.ts'
import { tooWide, UmbraTasking } from './tasking.ts'
import { cancelTask, findTask, getTask, orderCollect, referenceOf } from './tasks.ts'
import { schemas, type Task } from './wire.ts'

interface ShopParts {
  readonly products: readonly Product[]
  readonly scenes: Scenes
  /** Whether an organization's own contract pays, so that our rates do not apply. */
  readonly isOwnAccount: boolean
}

export const createUmbraShop = (host: Host, parts: ShopParts): VendorShop => new UmbraShop(host, parts)

class UmbraShop implements VendorShop {
  readonly #host: Host
  readonly #parts: ShopParts
  readonly #tasking: UmbraTasking

  constructor(host: Host, parts: ShopParts) {
    this.#host = host
    this.#parts = parts
    this.#tasking = new UmbraTasking(host)
  }

  async price(captures: readonly PriceRequest[], options: CallOptions = {}): Promise<readonly PriceResult[]> {
    const scenes = await this.#parts.scenes.find(
      captures.flatMap(({ sceneId }) => sceneId ?? []),
      options,
    )
    const isOneArea = captures.filter(({ sceneId }) => sceneId === undefined).length <= 1
    return await Promise.all(
      captures.map(async (capture) => {
        if (capture.sceneId !== undefined) return this.#priceScene(capture.sceneId, capture, scenes)
        return isOneArea ? await this.#priceArea(capture, options) : refuse(`Umbra ${ONE_AREA}`)
      }),
    )
  }

  #priceScene(sceneId: string, { productId, geometry }: PriceRequest, scenes: ReadonlyMap<string, Scene>): PriceResult {
    const scene = scenes.get(sceneId)
    if (!scene || scene.productId === null) return refuse(`Umbra has no scene '${sceneId}' that can be ordered here`)
    const product = this.#parts.products.find(({ id }) => id === (productId ?? scene.productId))
    if (product?.type !== 'ARCHIVE') return refuse(`'${sceneId}' is not sold as this product`)
    const area = sharedArea(scene, geometry)
    if (!area) return refuse(`The scene '${sceneId}' does not overlap the area`)
    return this.#offer(product, area, scene.datetime)
  }

  async #priceArea({ productId, geometry, params = {} }: PriceRequest, options: CallOptions): Promise<PriceResult> {
    const product = this.#parts.products.find(({ id, type }) => id === productId && type === 'TASKING')
    if (!product) return refuse('Umbra does not sell this product here')
    if (geometry.type !== 'Polygon') return refuse(`Umbra ${ONE_AREA}`)
    const reason = tooWide(geometry, params)
    if (reason !== null) return refuse(`Umbra ${reason}`)
    if (await this.#tasking.isRestricted(geometry, options)) return refuse('Umbra does not task this area: it is restricted')
    return this.#offer(product, geometry, null)
  }

  #offer(product: Product, geometry: AreaGeometry, acquiredAt: string | null): PriceResult {
    const resolutionClass = `${product.gsdM} m`
    return { ok: true, productId: product.id, price: this.#rateOf(product), resolutionClass, geometry, acquiredAt }
  }

  #rateOf({ rateCard }: Product): VendorPrice {
    return rateCard === null || this.#parts.isOwnAccount ? { basis: 'contract' } : rateCard
  }

  async placeOrder(request: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder> {
    const found = await this.findOrder(request, options)
    if (found) return found
    if (!request.captures) return await this.#toOrder(await this.#tasking.place(request, options), null, options)
    const [capture, second] = request.captures
    if (!capture || second) throw this.#error('refused', 'takes one scene per order')
    const { sceneId } = capture
    const scene = (await this.#parts.scenes.find([sceneId], options)).get(sceneId)
    const collectId = scene && collectOf(scene)
    if (!collectId) throw this.#error('refused', `does not sell the scene '${sceneId}' any more`)
    const order = { reference: request.reference, collectId, name: `Groundtrack ${request.reference}` }
    return await this.#toOrder(await orderCollect(this.#host, order, options), sceneId, options)
  }

  async findOrder({ reference, captures }: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder | null> {
    const task = await findTask(this.#host, reference, options)
    return task && (await this.#toOrder(task, captures?.[0]?.sceneId ?? null, options))
  }

  async order(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    const { taskId, sceneId } = partsOf(id)
    return await this.#toOrder(await getTask(this.#host, taskId, options), sceneId, options)
  }

  async cancelOrder(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    const { taskId, sceneId } = partsOf(id)
    return await this.#toOrder(await cancelTask(this.#host, taskId, options), sceneId, options)
  }

  /** Links are signed for a limited time, so each call gets a new one. */
  async *download(
    _id: string,
    fileId: string,
    options: { readonly offset?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Uint8Array> {
    const { signal } = options
    yield* this.#host.stream({ path: await linkOf(this.#host, fileId, signal ? { signal } : {}), ...options })
  }

  async requestStudy(request: TaskingRequest, options: CallOptions = {}): Promise<Study> {
    const product = this.#parts.products.find(({ id, type }) => id === request.productId && type === 'TASKING')
    if (!product) throw this.#error('refused', 'does not sell this product')
    const km2 = request.area.type === 'Point' ? 0 : sqKmOf(request.area)
    return await this.#tasking.requestStudy(request, centsOf(this.#rateOf(product), km2), options)
  }

  async study(id: string, options: CallOptions = {}): Promise<Study> {
    return await this.#tasking.study(id, options)
  }

  requestQuotation(): Promise<never> {
    return this.#unoffered('issues no quotations')
  }

  quotation(): Promise<never> {
    return this.#unoffered('issues no quotations')
  }

  opportunities(): Promise<never> {
    return this.#unoffered(
      'lists the passes of its satellites in feasibility studies only: place a tasking order to get one, free of charge',
    )
  }

  async #unoffered(what: string): Promise<never> {
    throw this.#error('refused', what)
  }

  async #toOrder(task: Task, sceneId: string | null, options: CallOptions): Promise<VendorOrder> {
    const isDelivered = standingOf(task.properties.status).status === 'delivered'
    return orderOf(task, sceneId, isDelivered ? await deliveryOf(this.#host, task, sceneId, options) : { state: 'waiting' })
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

const ONE_AREA = 'takes one image per order: order several areas as several groups'

const refuse = (reason: string): PriceResult => ({ ok: false, reason })

/** IDs of orders from the archive say which scene was ordered: the task does not. */
const idOf = (taskId: string, sceneId: string | null): string => (sceneId === null ? taskId : `${taskId}/${encodeURIComponent(sceneId)}`)

function partsOf(id: string): { taskId: string; sceneId: string | null } {
  const [taskId = '', sceneId] = id.split('/')
  return { taskId, sceneId: sceneId === undefined ? null : decodeURIComponent(sceneId) }
}

function sharedArea({ geometry: footprint }: Scene, area: AreaGeometry): AreaGeometry | null {
  const isArea = footprint?.type === 'Polygon' || footprint?.type === 'MultiPolygon'
  return isArea ? clipToConvex(area, convexHull(footprint as AreaGeometry)) : null
}

/** Of one image; null: by contract. */
function centsOf(price: VendorPrice, km2: number): number | null {
  if (price.basis === 'contract') return null
  return price.basis === 'area' ? Math.ceil(Math.max(km2, price.minimumSqKm) * price.centsPerSqKm) : price.cents
}

/** Umbra's tasks state neither what they cost nor why they failed. */
function orderOf(task: Task, sceneId: string | null, delivery: Delivery): VendorOrder {
  const standing = standingOf(task.properties.status)
  const isWaiting = standing.status === 'delivered' && delivery.state === 'waiting'
  const isPart = delivery.state === 'files' && delivery.failed > 0
  const status = isWaiting ? 'accepted' : delivery.state === 'failed' ? 'failed' : isPart ? 'part' : standing.status
  const ended = status === 'failed' ? `Umbra reports ${task.properties.status}` : null
  const reason = delivery.state === 'failed' ? delivery.reason : isPart ? `Umbra could not take ${delivery.failed} of the images` : ended
  const captured = status === 'delivered' || status === 'failed' ? status : 'waiting'
  return {
    id: idOf(task.id, sceneId),
    reference: referenceOf(task),
    status,
    reason,
    captures: sceneId === null ? [] : [{ sceneId, status: captured, reason }],
    files: delivery.state === 'files' ? delivery.files : [],
    chargedCents: null,
    chargedSqKm: null,
    unknownStatus: standing.unknownStatus,
  }
}

/** The cheapest request that needs an account; where it must not task is worth knowing before the first order. */
export async function checkUmbraAccount(host: Host, options: CallOptions): Promise<AccountCheck> {
  const request = { service: 'tasking', path: '/restricted-access-areas', ...options }
  const { features } = await requireAnswer(host, schemas.areas, request, 'list of restricted areas')
  return { detail: features.length === 0 ? null : `New images cannot be ordered in ${features.length} restricted areas` }
}
