/**
 * Orders at Planet. An order is a list of scenes of one product, clipped to one area and delivered as COGs; new images are tasked first.
 * Planet has no prices in its API: it bills a contract, so that what we resell has the operator's own rates.
 */
import { clipToConvex } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { convexHull } from '#core/wkt.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { areaFrom } from '#adapters/vendors/shapes.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { PriceRequest, PriceResult, VendorOrder, VendorOrderRequest, VendorPrice, VendorShop } from '#ports/vendors/shop.ts'
import type { Product } from '#ports/vendors/source.ts'
import type { Study, TaskingRequest } from '#ports/vendors/tasking.ts'
import { isOfferedAs } from './bundles.ts'
import { acquiredAt } from './catalog.ts'
import { filesOf } from './delivery.ts'
import type { Items } from './items.ts'
import { createOrders, type Orders } from './orders.ts'
import { standingOf, TASKING_STATES } from './states.ts'
import { createTasking, type TaskingApi } from './tasking.ts'
import type { Item, Order, Tasking } from './wire.ts'

interface ShopParts {
  readonly products: readonly Product[]
  readonly items: Items
  /** Whether an organization's own contract pays, so that our rates do not apply. */
  readonly isOwnAccount: boolean
}

export const createPlanetShop = (host: Host, parts: ShopParts): VendorShop => new PlanetShop(host, parts)

/** Our handle at Planet. */
const PREFIX = 'gt-'
const handleOf = (reference: string): string => `${PREFIX}${reference}`

class PlanetShop implements VendorShop {
  readonly #host: Host
  readonly #products: readonly Product[]
  readonly #items: Items
  readonly #isOwnAccount: boolean
  readonly #orders: Orders
  readonly #tasking: TaskingApi
  /** Orders of images that are being placed, by name: two polls at once place one. */
  readonly #placing = new Map<string, Promise<Order | null>>()

  constructor(host: Host, { products, items, isOwnAccount }: ShopParts) {
    this.#host = host
    this.#products = products
    this.#items = items
    this.#isOwnAccount = isOwnAccount
    this.#orders = createOrders(host)
    this.#tasking = createTasking(host, {
      product: (id) => this.#product(id, 'TASKING'),
      centsFor: (product, km2) => centsOf(this.#rateOf(product), km2),
    })
  }

  async price(captures: readonly PriceRequest[], options: CallOptions = {}): Promise<readonly PriceResult[]> {
    const ids = captures.flatMap(({ sceneId }) => sceneId ?? [])
    const items = ids.length === 0 ? new Map<string, Item>() : await this.#items.find(ids, options)
    return captures.map((capture) => this.#price(capture, items))
  }

  #price({ sceneId, productId, geometry }: PriceRequest, items: ReadonlyMap<string, Item>): PriceResult {
    const refuse = (reason: string): PriceResult => ({ ok: false, reason })
    if (sceneId === undefined) return this.#taskingPrice(productId, geometry)
    const item = items.get(sceneId)
    if (!item) return refuse(`Planet has no scene '${sceneId}' that can be ordered here`)
    const offered = this.#products.filter((product) => isOfferedAs(product, item))
    const product = offered.find(({ id }) => productId === undefined || id === productId)
    if (!product) return refuse(notOffered(sceneId, offered))
    const footprint = areaFrom(item.geometry)
    const area = footprint && clipToConvex(geometry, convexHull(footprint))
    if (!area) return refuse(`The scene '${sceneId}' does not overlap the area`)
    return {
      ok: true,
      productId: product.id,
      price: this.#rateOf(product),
      resolutionClass: `${product.gsdM} m`,
      geometry: area,
      acquiredAt: acquiredAt(item),
    }
  }

  #taskingPrice(productId: string | undefined, geometry: PriceRequest['geometry']): PriceResult {
    if (geometry.type !== 'Polygon') return { ok: false, reason: 'Planet tasks one polygon at a time: order the parts separately' }
    const product = this.#product(productId, 'TASKING')
    const resolutionClass = `${product.gsdM} m`
    return { ok: true, productId: product.id, price: this.#rateOf(product), resolutionClass, geometry, acquiredAt: null }
  }

  #product(id: string | undefined, type: Product['type']): Product & { vendorProduct: string } {
    const product = this.#products.find((each) => each.id === id && each.type === type)
    if (!product || product.vendorProduct === null) throw this.#error('refused', 'does not sell this product')
    return { ...product, vendorProduct: product.vendorProduct }
  }

  #rateOf({ rateCard }: Product): VendorPrice {
    return rateCard === null || this.#isOwnAccount ? { basis: 'contract' } : rateCard
  }

  async placeOrder(request: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder> {
    const found = await this.findOrder(request, options)
    if (found) return found
    if (request.area) return await this.#placeTasking(request, request.area, options)
    const order = await this.#orders.create(this.#bodyOf(request), options)
    if (order.name !== handleOf(request.reference)) throw this.#error('invalid-response', 'confirmed another order than requested')
    return await this.#toOrder(order, options)
  }

  async #placeTasking({ reference, productId, params = {} }: VendorOrderRequest, area: AreaGeometry, options: CallOptions) {
    const product = this.#product(productId, 'TASKING')
    const tasking = await this.#tasking.create(handleOf(reference), area, params, options)
    return await this.#toTaskingOrder(tasking, product, options)
  }

  async findOrder({ reference, productId, area }: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder | null> {
    if (area) {
      const tasking = await this.#tasking.find(handleOf(reference), options)
      return tasking && (await this.#toTaskingOrder(tasking, this.#product(productId, 'TASKING'), options))
    }
    const order = await this.#orders.find(handleOf(reference), options)
    return order && (await this.#toOrder(order, options))
  }

  async order(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    const { taskingId, productId } = taskingIn(id)
    if (taskingId === null) return await this.#toOrder(await this.#orders.get(id, options), options)
    const [tasking, product] = [await this.#tasking.get(taskingId, options), this.#product(productId, 'TASKING')]
    // Images that fulfil the order are ordered when they are first seen here, and by nothing else.
    if (TASKING_STATES[tasking.status] === 'delivered') await this.#orderImages(tasking, product, options)
    return await this.#toTaskingOrder(tasking, product, options)
  }

  async cancelOrder(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    const { taskingId, productId } = taskingIn(id)
    if (taskingId !== null)
      return await this.#toTaskingOrder(await this.#tasking.cancel(taskingId, options), this.#product(productId, 'TASKING'), options)
    return await this.#toOrder(await this.#orders.cancel(id, options), options)
  }

  download(
    _id: string,
    fileId: string,
    options: { readonly offset?: number; readonly signal?: AbortSignal } = {},
  ): AsyncIterable<Uint8Array> {
    return this.#orders.download(fileId, options)
  }

  requestStudy(request: TaskingRequest, options: CallOptions = {}): Promise<Study> {
    return this.#tasking.study(request, options)
  }

  async study(studyId: string): Promise<Study> {
    return this.#tasking.studyOf(studyId)
  }

  requestQuotation(): Promise<never> {
    return this.#unoffered('issues no quotations')
  }

  quotation(): Promise<never> {
    return this.#unoffered('issues no quotations')
  }

  opportunities(): Promise<never> {
    return this.#unoffered('does not list passes: it chooses the time itself')
  }

  async #unoffered(what: string): Promise<never> {
    throw this.#error('refused', what)
  }

  /** All captures are parts of one area, which each scene is clipped to. `partial`: one scene that fails does not fail the others. */
  #bodyOf({ reference, productId, captures, clipArea, callbackUrl }: VendorOrderRequest): object {
    const product = this.#product(productId, 'ARCHIVE')
    if (!captures?.length) throw this.#error('refused', 'takes orders of scenes only')
    const ids = new Set(captures.map(({ sceneId }) => sceneId))
    return {
      ...orderOf(product, handleOf(reference), [...ids], clipArea ?? captures[0]!.geometry),
      // Planet cannot reach a service without a public address.
      ...(callbackUrl?.startsWith('https:') ? { notifications: { webhook: { url: callbackUrl, per_order: true } } } : {}),
    }
  }

  async #toTaskingOrder(tasking: Tasking, product: Product, options: CallOptions): Promise<VendorOrder> {
    const order = TASKING_STATES[tasking.status] === 'delivered' ? await this.#orders.find(tasking.name, options) : null
    const images = order && (await this.#toOrder(order, options))
    const { status, unknownStatus } = images ?? standingOf(tasking.status, false, TASKING_STATES)
    const hasFailed = status === 'failed' || status === 'cancelled'
    return {
      id: `${TASKING}/${tasking.id}/${product.id}`,
      reference: referenceIn(tasking.name),
      status: images?.status === 'placed' ? 'accepted' : status, // The image has been taken, although its order waits.
      reason: images ? images.reason : hasFailed ? `Planet reports ${tasking.status}` : null,
      captures: [],
      files: images?.files ?? [],
      chargedCents: null,
      chargedSqKm: null,
      unknownStatus,
    }
  }

  /** Under the name of the tasking order, unless there is one already. */
  async #orderImages(tasking: Tasking, product: Product, options: CallOptions): Promise<void> {
    const { name } = tasking
    const placing =
      this.#placing.get(name) ??
      this.#lookAndOrder(tasking, product, options).finally(() => {
        this.#placing.delete(name)
      })
    this.#placing.set(name, placing)
    await placing
  }

  async #lookAndOrder(tasking: Tasking, product: Product, options: CallOptions): Promise<Order | null> {
    const found = await this.#orders.find(tasking.name, options)
    if (found) return found
    const items = await this.#items.find(await this.#tasking.itemIds(tasking.id, options), options)
    const ids = [...items.values()].filter(({ properties }) => properties.item_type === product.collection).map(({ id }) => id)
    const area = areaFrom(tasking.original_geometry ?? tasking.geometry)
    if (ids.length === 0 || !area) return null // None is published yet.
    return await this.#orders.create(orderOf(product, tasking.name, ids, area), options)
  }

  async #toOrder(order: Order, options: CallOptions): Promise<VendorOrder> {
    const manifest = standingOf(order.state, true).status in DELIVERIES ? await this.#orders.manifest(order, options) : null
    const itemIds = order.products.flatMap(({ item_ids }) => item_ids)
    const files = manifest ? filesOf(order.id, manifest, itemIds, await this.#described(itemIds, options)) : []
    const { status, unknownStatus } = standingOf(order.state, files.length > 0)
    const hasEnded = status !== 'placed' && status !== 'accepted'
    const reason = status === 'failed' || status === 'part' || status === 'cancelled' ? reasonOf(order) : null
    const captureOf = (sceneId: string): VendorOrder['captures'][number] => {
      const isDelivered = files.some((file) => file.sceneId === sceneId && file.role === 'data')
      if (isDelivered) return { sceneId, status: 'delivered', reason: null }
      return { sceneId, status: hasEnded ? 'failed' : 'waiting', reason: hasEnded ? hintFor(sceneId, order) : null }
    }
    return {
      id: order.id,
      reference: referenceIn(order.name),
      status,
      reason,
      captures: itemIds.map(captureOf),
      files,
      chargedCents: null,
      chargedSqKm: null,
      unknownStatus,
    }
  }

  /** Descriptions are not worth an order: what Planet does not tell any more is read from the files. */
  async #described(ids: readonly string[], options: CallOptions): Promise<ReadonlyMap<string, Item>> {
    try {
      return await this.#items.find(ids, options)
    } catch (error) {
      const isFinal = error instanceof VendorError && ['refused', 'forbidden', 'invalid-response', 'not-found'].includes(error.code)
      if (!isFinal) throw error
      return new Map()
    }
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

/** Cut to the area, as COGs. */
const orderOf = (product: Product, name: string, itemIds: readonly string[], aoi: AreaGeometry) => ({
  name,
  source_type: 'scenes',
  order_type: 'partial',
  products: [{ item_ids: itemIds, item_type: product.collection, product_bundle: product.vendorProduct }],
  tools: [{ clip: { aoi } }, { file_format: { format: 'COG' } }],
})

/** IDs of tasking orders say so, and what was ordered. */
const TASKING = 'tasking'
function taskingIn(id: string): { taskingId: string | null; productId: string } {
  const [kind, taskingId, productId] = id.split('/')
  return kind === TASKING && taskingId && productId ? { taskingId, productId } : { taskingId: null, productId: '' }
}

const referenceIn = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : '')

const centsOf = (price: VendorPrice, km2: number): number | null =>
  price.basis === 'area' ? Math.ceil(Math.max(km2, price.minimumSqKm) * price.centsPerSqKm) : null

const DELIVERIES = { delivered: true, part: true } as const

function notOffered(sceneId: string, offered: readonly Product[]): string {
  if (offered.length > 0) return `'${sceneId}' is sold as ${offered.map(({ name }) => `'${name}'`).join(', ')}`
  return `Planet does not offer '${sceneId}' as any product here: it has no such image, or the contract does not allow it to be downloaded`
}

/** The hints say what went wrong; the last message often only that something did. */
const reasonOf = ({ state, error_hints: hints, last_message: message }: Order): string =>
  hints?.length ? hints.slice(0, 5).join('; ') : message || `Planet reports '${state}'`

const hintFor = (sceneId: string, { error_hints: hints }: Order): string | null => hints?.find((hint) => hint.includes(sceneId)) ?? null
