/** Orders at UP42: one scene or one area each, priced by an estimate in credits, of which 100 are one euro. */
import { clipToConvex, polygonsOf } from '#core/area.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { convexHull } from '#core/wkt.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { Scene, VendorCatalog } from '#ports/vendors/catalog.ts'
import type { PriceRequest, PriceResult, VendorOrder, VendorOrderRequest, VendorShop } from '#ports/vendors/shop.ts'
import type { Product } from '#ports/vendors/source.ts'
import type { Quotation, QuotationRequest, Study, TaskingRequest } from '#ports/vendors/tasking.ts'
import type { AccountCheck } from '#ports/vendors/vendors.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { deliveryOf, type Delivery } from './delivery.ts'
import type { Glossary } from './glossary.ts'
import { bodyOf, findTagged, getOrder, reasonOf, referenceOf, sendOrder, type OrderForm } from './orders.ts'
import { CANCELLABLE, standingOf } from './states.ts'
import { ONE_AREA, Up42Tasking } from './tasking.ts'
import { schemas, type Order } from './wire.ts'

/** The price is estimated again before the order; areas are measured in different ways. */
const PRICE_TOLERANCE = 0.01

interface ShopParts {
  readonly products: readonly Product[]
  readonly catalog: VendorCatalog
  readonly glossary: Glossary
}

export const createUp42Shop = (host: Host, parts: ShopParts): VendorShop => new Up42Shop(host, parts)

class Up42Shop implements VendorShop {
  readonly #host: Host
  readonly #products: readonly Product[]
  readonly #catalog: VendorCatalog
  readonly #glossary: Glossary
  readonly #tasking: Up42Tasking

  constructor(host: Host, { products, catalog, glossary }: ShopParts) {
    this.#host = host
    this.#products = products
    this.#catalog = catalog
    this.#glossary = glossary
    this.#tasking = new Up42Tasking(host, async ({ productId, area, params }, options) => {
      const product = await this.#licensed(productId, options)
      return await this.#form(product, { area, params, name: product.title }, options)
    })
  }

  async price(captures: readonly PriceRequest[], options: CallOptions = {}): Promise<readonly PriceResult[]> {
    const isOneArea = captures.filter(({ sceneId }) => sceneId === undefined).length <= 1
    return await Promise.all(
      captures.map(async ({ sceneId, ...capture }) => {
        if (sceneId !== undefined) return await this.#priceScene({ ...capture, sceneId }, options)
        return isOneArea ? await this.#priceArea(capture, options) : refuse(`UP42 ${ONE_AREA}`)
      }),
    )
  }

  async #priceScene(capture: PriceRequest & { sceneId: string }, options: CallOptions): Promise<PriceResult> {
    const { sceneId, productId, geometry } = capture
    const scene = await this.#catalog.scene(sceneId, options)
    const product = this.#products.find(({ id }) => id === (productId ?? scene?.productId))
    if (!scene || !product) return refuse(`UP42 has no scene '${sceneId}' that can be ordered here`)
    if (product.collection !== scene.collection) return refuse(`'${sceneId}' is not sold as '${product.name}'`)
    const area = orderArea(scene, geometry)
    if (typeof area === 'string') return refuse(area)
    return await this.#offer(product, { area, params: { id: sceneId }, acquiredAt: scene.datetime, name: sceneId }, options)
  }

  async #priceArea({ productId, geometry, params = {} }: PriceRequest, options: CallOptions): Promise<PriceResult> {
    const product = this.#products.find(({ id, type }) => id === productId && type === 'TASKING')
    if (!product) return refuse('UP42 does not sell this product here')
    const area = onePolygon(geometry)
    if (!area) return refuse(`UP42 ${ONE_AREA}`)
    return await this.#offer(product, { area, params, acquiredAt: null, name: product.title }, options)
  }

  /** The estimate, or why there is none: an unaccepted licence, an area that is too large, a collection without access. */
  async #offer(
    product: Product,
    { area, acquiredAt, params, name }: Pick<OrderForm, 'params' | 'name'> & { area: AreaGeometry; acquiredAt: string | null },
    options: CallOptions,
  ): Promise<PriceResult> {
    try {
      const licence = await this.#glossary.missingLicence(product.id, options)
      if (licence !== null) return refuse(licence)
      const estimate = await this.#estimate(await this.#form(product, { area, params, name }, options), options)
      if (typeof estimate === 'string') return refuse(estimate)
      return {
        ok: true,
        productId: product.id,
        price: { basis: 'scene', cents: estimate },
        resolutionClass: (await this.#glossary.resolutionClass(product.id, options)) ?? `${product.gsdM} m`,
        geometry: area,
        acquiredAt,
      }
    } catch (error) {
      if (error instanceof VendorError && (error.code === 'refused' || error.code === 'forbidden')) return refuse(error.message)
      throw error
    }
  }

  async placeOrder(request: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder> {
    const found = await this.findOrder(request, options)
    if (found) return found
    if (!request.captures) return await this.#buy(request, options)
    const product = await this.#licensed(request.productId, options)
    const { sceneId, geometry } = this.#capture(request)
    const form = await this.#form(product, { area: geometry, params: { id: sceneId }, name: sceneId }, options)
    await this.#requirePrice(form, request.expectedCents, options)
    return await this.#toOrder(await sendOrder(this.#host, request.reference, form, options), options)
  }

  /** A tasked order is at UP42 from its study on; it is bought when its quotation is accepted. */
  async findOrder(request: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder | null> {
    const { reference, createdAt, captures, quotationId } = request
    if (captures) {
      const order = await findTagged(this.#host, { reference, createdAt }, options)
      return order && (await this.#toOrder(order, options))
    }
    if (quotationId === undefined || !(await this.#tasking.isBought(quotationId, options))) return null
    return await this.order(quotationId, options)
  }

  async order(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    return await this.#toOrder(await getOrder(this.#host, id, options), options)
  }

  async cancelOrder(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    const { status } = await getOrder(this.#host, id, options)
    if (status === 'CANCELED') return await this.order(id, options)
    if (!CANCELLABLE.includes(status)) throw this.#error('refused', 'has passed this order on to the producer and does not cancel it')
    const path = `/v2/orders/${encodeURIComponent(id)}/cancellation`
    await requireAnswer(this.#host, schemas.cancelled, { method: 'POST', path, ...options }, 'cancellation')
    return await this.order(id, options)
  }

  /** Links are valid for five minutes, so each call gets a new one. */
  async *download(
    _id: string,
    fileId: string,
    options: { readonly offset?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Uint8Array> {
    const { signal } = options
    const path = `/v2/assets/${encodeURIComponent(fileId)}/download-url`
    const request = { method: 'POST' as const, path, isRepeatable: true, ...(signal ? { signal } : {}) }
    const { url } = await requireAnswer(this.#host, schemas.link, request, 'file')
    yield* this.#host.stream({ path: url, ...options })
  }

  async requestStudy(request: TaskingRequest, options: CallOptions = {}): Promise<Study> {
    return await this.#tasking.requestStudy(request, options)
  }

  async study(id: string, options: CallOptions = {}): Promise<Study> {
    return await this.#tasking.study(id, options)
  }

  async requestQuotation(request: QuotationRequest, options: CallOptions = {}): Promise<Quotation> {
    return await this.#tasking.requestQuotation(request, options)
  }

  async quotation(id: string, options: CallOptions = {}): Promise<Quotation> {
    return await this.#tasking.quotation(id, options)
  }

  async findTerms(reference: string, options: CallOptions = {}): Promise<string | null> {
    return (await findTagged(this.#host, { reference, createdAt: null }, options))?.id ?? null
  }

  async declineTerms(orderId: string, options: CallOptions = {}): Promise<void> {
    if (await this.#tasking.reject(orderId, options)) return
    const { status } = await getOrder(this.#host, orderId, options)
    if (CANCELLABLE.includes(status)) await this.cancelOrder(orderId, options)
  }

  async opportunities(): Promise<never> {
    throw this.#error('refused', 'does not state when its satellites pass')
  }

  async #buy({ quotationId }: VendorOrderRequest, options: CallOptions): Promise<VendorOrder> {
    if (quotationId === undefined) throw this.#error('refused', 'sells new imagery only on a quotation')
    await this.#tasking.buy(quotationId, options)
    return await this.order(quotationId, options)
  }

  /** The scene or the parameters of the customer, and what else the product's order form requires. */
  async #form({ id }: Product, { area, params, name }: Pick<OrderForm, 'area' | 'params' | 'name'>, options: CallOptions) {
    const defaults = await this.#glossary.defaults(id, options)
    return { productId: id, name, area, params: { ...defaults, ...params } } satisfies OrderForm
  }

  /** In credits, which are euro cents; a text is the reason why there is none. */
  async #estimate(form: OrderForm, options: CallOptions): Promise<number | string> {
    const request = { method: 'POST' as const, path: '/v2/orders/estimate', body: bodyOf(form), isRepeatable: true, ...options }
    const { results, errors } = await requireAnswer(this.#host, schemas.estimate, request, 'estimate')
    if (errors[0]) return `UP42: ${reasonOf(errors[0])}`
    const [result, second] = results
    if (result && !second) return result.credits
    throw this.#error('invalid-response', `estimated ${results.length} orders instead of one`)
  }

  /** The price can have risen since it was reserved. */
  async #requirePrice(form: OrderForm, expectedCents: number | null, options: CallOptions): Promise<void> {
    const cents = await this.#estimate(form, options)
    if (typeof cents === 'string') throw new VendorError('refused', this.#host.name, cents)
    if (expectedCents === null || cents <= Math.ceil(expectedCents * (1 + PRICE_TOLERANCE))) return
    throw this.#error('refused', `now sells '${form.name}' for EUR ${(cents / 100).toFixed(2)}, more than was agreed on`)
  }

  async #toOrder(order: Order, options: CallOptions): Promise<VendorOrder> {
    const isFulfilled = order.status === 'FULFILLED'
    return orderOf(order, isFulfilled ? await deliveryOf(this.#host, order, options) : { state: 'waiting' })
  }

  #capture({ captures }: VendorOrderRequest): { sceneId: string; geometry: AreaGeometry } {
    const [capture, second] = captures ?? []
    const geometry = capture && onePolygon(capture.geometry)
    if (!capture || !geometry || second) throw this.#error('refused', 'takes one scene and one polygon per order')
    return { sceneId: capture.sceneId, geometry }
  }

  async #licensed(productId: string, options: CallOptions): Promise<Product> {
    const product = this.#products.find(({ id }) => id === productId)
    if (!product) throw this.#error('refused', 'does not sell this product')
    const licence = await this.#glossary.missingLicence(product.id, options)
    if (licence === null) return product
    throw new VendorError('forbidden', this.#host.name, licence)
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

const refuse = (reason: string): PriceResult => ({ ok: false, reason })

/** Null for an area of several parts. */
function onePolygon(area: AreaGeometry): AreaGeometry | null {
  const [polygon, second] = polygonsOf(area)
  return polygon && !second ? { type: 'Polygon', coordinates: polygon as Position[][] } : null
}

/** The part of an area that can be ordered of a scene, or the reason why none can. */
function orderArea({ id, geometry: footprint }: Scene, geometry: AreaGeometry): AreaGeometry | string {
  const isArea = footprint?.type === 'Polygon' || footprint?.type === 'MultiPolygon'
  const shared = isArea ? clipToConvex(geometry, convexHull(footprint as AreaGeometry)) : null
  if (!shared) return `The scene '${id}' does not overlap the area`
  return onePolygon(shared) ?? `UP42 ${ONE_AREA}`
}

/** UP42's orders state neither what they cost nor why they failed. */
function orderOf(order: Order, delivery: Delivery): VendorOrder {
  const standing = standingOf(order.status)
  const isWaiting = standing.status === 'delivered' && delivery.state === 'waiting'
  const status = isWaiting ? 'accepted' : delivery.state === 'failed' ? 'failed' : standing.status
  const reason = delivery.state === 'failed' ? delivery.reason : status === 'failed' ? `UP42 reports ${order.status}` : null
  const captured = status === 'delivered' || status === 'failed' ? status : 'waiting'
  const sceneId = order.type === 'ARCHIVE' ? (order.orderDetails?.imageId ?? order.displayName) : null
  return {
    id: order.id,
    reference: referenceOf(order),
    status,
    reason,
    captures: sceneId == null ? [] : [{ sceneId, status: captured, reason }],
    files: delivery.state === 'files' ? delivery.files : [],
    chargedCents: null,
    chargedSqKm: null,
    unknownStatus: standing.unknownStatus,
  }
}

/** Whose account it is, and which licences are missing before it can order. */
export async function checkUp42Account(
  host: Host,
  { products, glossary }: Pick<ShopParts, 'products' | 'glossary'>,
  options: CallOptions,
): Promise<AccountCheck> {
  const { sub, email } = await requireAnswer(host, schemas.user, { service: 'auth', path: '/userinfo', ...options }, 'account')
  const standing = await Promise.all(products.map(async ({ id, title }) => ({ title, problem: await problemOf(glossary, id, options) })))
  const missing = standing.filter(({ problem }) => problem !== null).map(({ title }) => title)
  const about = `Account of ${email ?? sub}`
  return {
    detail: missing.length === 0 ? about : `${about}; cannot be ordered before access or the licence is granted: ${missing.join(', ')}`,
  }
}

async function problemOf(glossary: Glossary, productId: string, options: CallOptions): Promise<string | null> {
  try {
    return await glossary.missingLicence(productId, options)
  } catch (error) {
    if (error instanceof VendorError && (error.code === 'refused' || error.code === 'forbidden')) return error.message
    throw error
  }
}
