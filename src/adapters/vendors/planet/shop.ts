/**
 * Orders at Planet. An order is a list of scenes of one product, clipped to one area and delivered as COGs. Planet has no prices in its
 * API: it bills a contract, so that what we resell has the operator's own rates.
 */
import { clipToConvex } from '#core/area.ts'
import { convexHull } from '#core/wkt.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { areaFrom } from '#adapters/vendors/shapes.ts'
import {
  VendorError,
  type CallOptions,
  type PriceRequest,
  type PriceResult,
  type Product,
  type VendorErrorCode,
  type VendorOrder,
  type VendorOrderRequest,
  type VendorPrice,
  type VendorShop,
} from '#ports/vendors.ts'
import { isOfferedAs } from './bundles.ts'
import { acquiredAt } from './catalog.ts'
import { filesOf } from './delivery.ts'
import type { Items } from './items.ts'
import { createOrders, type Orders } from './orders.ts'
import { standingOf } from './states.ts'
import type { Item, Order } from './wire.ts'

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

  constructor(host: Host, { products, items, isOwnAccount }: ShopParts) {
    this.#host = host
    this.#products = products
    this.#items = items
    this.#isOwnAccount = isOwnAccount
    this.#orders = createOrders(host)
  }

  async price(captures: readonly PriceRequest[], options: CallOptions = {}): Promise<readonly PriceResult[]> {
    const ids = captures.flatMap(({ sceneId }) => sceneId ?? [])
    const items = ids.length === 0 ? new Map<string, Item>() : await this.#items.find(ids, options)
    return captures.map((capture) => this.#price(capture, items))
  }

  #price({ sceneId, productId, geometry }: PriceRequest, items: ReadonlyMap<string, Item>): PriceResult {
    const refuse = (reason: string): PriceResult => ({ ok: false, reason })
    if (sceneId === undefined) return refuse('Planet prices scenes of its archive only')
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

  #rateOf({ rate }: Product): VendorPrice {
    return rate === null || this.#isOwnAccount ? { basis: 'contract' } : { basis: 'area', ...rate }
  }

  async placeOrder(request: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder> {
    const found = await this.findOrder(request, options)
    if (found) return found
    const order = await this.#orders.create(this.#bodyOf(request), options)
    if (order.name !== handleOf(request.reference)) throw this.#error('invalid-response', 'confirmed another order than requested')
    return await this.#toOrder(order, options)
  }

  async findOrder({ reference }: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder | null> {
    const order = await this.#orders.find(handleOf(reference), options)
    return order && (await this.#toOrder(order, options))
  }

  async order(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    return await this.#toOrder(await this.#orders.get(id, options), options)
  }

  async cancelOrder(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    return await this.#toOrder(await this.#orders.cancel(id, options), options)
  }

  download(
    id: string,
    fileId: string,
    options: { readonly offset?: number; readonly signal?: AbortSignal } = {},
  ): AsyncIterable<Uint8Array> {
    return this.#orders.download(id, fileId, options)
  }

  requestStudy(): Promise<never> {
    return this.#untasked()
  }

  study(): Promise<never> {
    return this.#untasked()
  }

  requestQuotation(): Promise<never> {
    return this.#untasked()
  }

  quotation(): Promise<never> {
    return this.#untasked()
  }

  opportunities(): Promise<never> {
    return this.#untasked()
  }

  async #untasked(): Promise<never> {
    throw this.#error('refused', 'is not tasked through this platform yet')
  }

  /** All captures are parts of one area, which each scene is clipped to. `partial`: one scene that fails does not fail the others. */
  #bodyOf({ reference, productId, captures, clipArea, callbackUrl }: VendorOrderRequest): object {
    const product = this.#products.find(({ id }) => id === productId)
    if (!product || product.vendorProduct === null) throw this.#error('refused', 'does not sell this product')
    if (!captures?.length) throw this.#error('refused', 'takes orders of scenes only')
    const { collection, vendorProduct } = product
    return {
      name: handleOf(reference),
      source_type: 'scenes',
      order_type: 'partial',
      products: [{ item_ids: [...new Set(captures.map(({ sceneId }) => sceneId))], item_type: collection, product_bundle: vendorProduct }],
      tools: [{ clip: { aoi: clipArea ?? captures[0]!.geometry } }, { file_format: { format: 'COG' } }],
      // Planet cannot reach a service without a public address.
      ...(callbackUrl?.startsWith('https:') ? { notifications: { webhook: { url: callbackUrl, per_order: true } } } : {}),
    }
  }

  async #toOrder(order: Order, options: CallOptions): Promise<VendorOrder> {
    const manifest = standingOf(order.state, true).status in DELIVERIES ? await this.#orders.manifest(order, options) : null
    const itemIds = order.products.flatMap(({ item_ids }) => item_ids)
    const files = manifest ? filesOf(manifest, itemIds, await this.#items.find(itemIds, options)) : []
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
      reference: order.name.startsWith(PREFIX) ? order.name.slice(PREFIX.length) : '',
      status,
      reason,
      captures: itemIds.map(captureOf),
      files,
      chargedCents: null,
      chargedSqKm: null,
      unknownStatus,
    }
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

const DELIVERIES = { delivered: true, part: true } as const

function notOffered(sceneId: string, offered: readonly Product[]): string {
  if (offered.length > 0) return `'${sceneId}' is sold as ${offered.map(({ name }) => `'${name}'`).join(', ')}`
  return `Planet does not offer '${sceneId}' as any product here: it has no such image, or the contract does not allow it to be downloaded`
}

/** The hints say what went wrong; the last message often only that something did. */
const reasonOf = ({ state, error_hints: hints, last_message: message }: Order): string =>
  hints?.length ? hints.slice(0, 5).join('; ') : message || `Planet reports '${state}'`

const hintFor = (sceneId: string, { error_hints: hints }: Order): string | null => hints?.find((hint) => hint.includes(sceneId)) ?? null
