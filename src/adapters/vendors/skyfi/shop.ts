/**
 * Orders at SkyFi. An order is one archive and one convex area, is charged when it is placed and cannot be cancelled. SkyFi does not
 * recognize a repeated order, so we look for our reference in its metadata first.
 */
import { clipToConvex, sqKmOf } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { convexHull, convexRing, polygonWkt, readWkt } from '#core/wkt.ts'
import {
  VendorError,
  type AccountCheck,
  type CallOptions,
  type DeliveredFile,
  type PriceRequest,
  type PriceResult,
  type Product,
  type VendorErrorCode,
  type VendorOrder,
  type VendorOrderRequest,
  type VendorShop,
} from '#ports/vendors.ts'
import { ask } from '#adapters/vendors/ask.ts'
import type { Host } from '#adapters/vendors/host.ts'
import type { Archives } from './archives.ts'
import { propertiesOf } from './catalog.ts'
import { standingOf } from './states.ts'
import { schemas, type Archive, type Order } from './wire.ts'

const MAX_VERTICES = 500
/** The first price is compared with the one at the time of the order; areas are measured in different ways. */
const PRICE_TOLERANCE = 0.01
/** The clocks of SkyFi and ours can differ. */
const LOOK_BACK_MS = 60 * 60_000
const LOOK_PAGE_SIZE = 100
/** Beyond so many newer orders we cannot know whether ours is among them, and do not place it. */
const MAX_LOOK_PAGES = 50
const COG_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'
const RGB = ['red', 'green', 'blue'].map((name) => ({ name, role: name.toUpperCase() }))

interface ShopParts {
  readonly products: readonly Product[]
  readonly archives: Archives
}

export const createSkyfiShop = (host: Host, parts: ShopParts): VendorShop => new SkyfiShop(host, parts)

class SkyfiShop implements VendorShop {
  readonly #host: Host
  readonly #products: readonly Product[]
  readonly #archives: Archives

  constructor(host: Host, { products, archives }: ShopParts) {
    this.#host = host
    this.#products = products
    this.#archives = archives
  }

  price(captures: readonly PriceRequest[], options: CallOptions = {}): Promise<readonly PriceResult[]> {
    return Promise.all(captures.map((capture) => this.#price(capture, options)))
  }

  async #price({ sceneId, productId, geometry }: PriceRequest, options: CallOptions): Promise<PriceResult> {
    const refuse = (reason: string): PriceResult => ({ ok: false, reason })
    if (sceneId === undefined) return refuse('SkyFi prices scenes of its archive only')
    const archive = await this.#archives.get(sceneId, options)
    const product = archive && this.#products.find(({ collection }) => collection === `skyfi-${archive.productType.toLowerCase()}`)
    if (!archive || !product) return refuse(`SkyFi has no scene '${sceneId}' that can be ordered here`)
    if (productId !== undefined && productId !== product.id) return refuse(`'${sceneId}' is sold as '${product.name}'`)
    const area = orderArea(archive, geometry)
    if (typeof area === 'string') return refuse(area)
    return {
      ok: true,
      productId: product.id,
      price: { basis: 'area', centsPerSqKm: archive.priceForOneSquareKmCents, minimumSqKm: archive.minSqKm },
      resolutionClass: archive.resolution,
      geometry: area,
      acquiredAt: new Date(archive.captureTimestamp).toISOString(),
    }
  }

  async placeOrder(request: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder> {
    const found = await this.findOrder(request, options)
    if (found) return found
    const { sceneId, geometry } = this.#capture(request)
    const archive = await this.#archives.current(sceneId, options)
    if (!archive) throw this.#error('refused', `does not have the scene '${sceneId}' any more`)
    this.#requirePrice(archive, geometry, request.expectedCents)
    const ring = convexRing(geometry)
    if (!ring) throw this.#error('refused', CONVEX)
    const { reference, callbackUrl } = request
    const body = {
      aoi: polygonWkt([ring]),
      archiveId: sceneId,
      deliveryDriver: 'NONE',
      label: `Groundtrack ${reference}`,
      orderLabel: `Groundtrack ${reference}`,
      metadata: { reference },
      // SkyFi cannot reach a service without a public address.
      ...(callbackUrl?.startsWith('https:') ? { webhookUrl: callbackUrl } : {}),
    }
    const order = await ask(this.#host, schemas.order, { method: 'POST', path: '/order-archive', body, ...options }, 'order')
    if (!order || order.metadata?.['reference'] !== reference || order.archiveId !== sceneId)
      throw this.#error('invalid-response', 'confirmed another order than requested')
    return toOrder(order)
  }

  async findOrder({ reference, createdAt }: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder | null> {
    const oldest = createdAt.getTime() - LOOK_BACK_MS
    for (let page = 0; page < MAX_LOOK_PAGES; page++) {
      const query = `orderType=ARCHIVE&sort_columns=created_at&sort_directions=desc&pageNumber=${page}&pageSize=${LOOK_PAGE_SIZE}`
      const list = await ask(this.#host, schemas.orders, { path: `/orders?${query}`, ...options }, 'list of orders')
      if (!list) throw this.#error('invalid-response', 'has no list of orders')
      const ours = list.orders.find(({ metadata }) => metadata?.['reference'] === reference)
      if (ours) return toOrder(ours)
      const last = list.orders.at(-1)
      if (!last || list.orders.length < LOOK_PAGE_SIZE || Date.parse(last.createdAt) < oldest) return null
    }
    throw this.#error('unavailable', `has more than ${MAX_LOOK_PAGES * LOOK_PAGE_SIZE} newer orders, so ours cannot be looked for`)
  }

  async order(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    const order = await ask(this.#host, schemas.order, { path: `/orders/${encodeURIComponent(id)}`, ...options }, 'order')
    if (!order) throw this.#error('not-found', 'has no such order')
    if (order.id !== id) throw this.#error('invalid-response', 'returned another object than requested')
    return toOrder(order)
  }

  async cancelOrder(): Promise<VendorOrder> {
    throw this.#error('refused', 'does not cancel orders')
  }

  /** Each call gets a fresh signed link by a redirect. */
  download(
    id: string,
    fileId: string,
    options: { readonly offset?: number; readonly signal?: AbortSignal } = {},
  ): AsyncIterable<Uint8Array> {
    return this.#host.stream({ path: `/orders/${encodeURIComponent(id)}/${encodeURIComponent(fileId)}`, ...options })
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

  #capture({ captures }: VendorOrderRequest): { sceneId: string; geometry: AreaGeometry } {
    const [capture, second] = captures ?? []
    if (!capture || second) throw this.#error('refused', 'takes one scene per order')
    return capture
  }

  /** The price can have risen since it was reserved. */
  #requirePrice(archive: Archive, geometry: AreaGeometry, expectedCents: number | null): void {
    const cents = Math.max(sqKmOf(geometry), archive.minSqKm) * archive.priceForOneSquareKmCents
    if (expectedCents === null || cents <= Math.ceil(expectedCents * (1 + PRICE_TOLERANCE))) return
    throw this.#error('refused', `now sells '${archive.archiveId}' for USD ${(cents / 100).toFixed(2)}, more than was agreed on`)
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

const CONVEX = `takes one convex polygon without holes and with at most ${MAX_VERTICES} vertices: order a larger area in parts`

/** The part of an area that can be ordered of an archive, or the reason why none can. */
function orderArea(archive: Archive, geometry: AreaGeometry): AreaGeometry | string {
  if (!convexRing(geometry)) return `SkyFi ${CONVEX}`
  const footprint = readWkt(archive.footprint)
  const area = footprint && clipToConvex(geometry, convexHull(footprint))
  if (!area) return `The scene '${archive.archiveId}' does not overlap the area`
  const ring = convexRing(area)
  if (!ring || ring.length > MAX_VERTICES) return `SkyFi ${CONVEX}`
  const km2 = sqKmOf(area)
  if (archive.maxSqKm > 0 && km2 > archive.maxSqKm)
    return `The area covers ${km2.toFixed(1)} km²; SkyFi sells at most ${archive.maxSqKm} km² of this scene`
  return area
}

function toOrder(order: Order): VendorOrder {
  const files = filesOf(order)
  const { status, unknownStatus } = standingOf(order.status, files.length > 0)
  const reason = status === 'failed' ? (order.events?.findLast(({ message }) => message)?.message ?? `SkyFi reports ${order.status}`) : null
  const capture = { waiting: 'waiting', delivered: 'delivered', failed: 'failed' } as const
  const captured = status === 'delivered' || status === 'failed' ? capture[status] : capture.waiting
  const reference = order.metadata?.['reference']
  return {
    id: order.id,
    reference: typeof reference === 'string' ? reference : '',
    status,
    reason,
    captures: order.archiveId === undefined ? [] : [{ sceneId: order.archiveId, status: captured, reason }],
    files: status === 'delivered' ? files : [],
    chargedCents: order.orderCost,
    chargedSqKm: order.aoiSqkm,
    unknownStatus,
  }
}

/** The COG; some providers deliver only the image, a GeoTIFF. */
function filesOf({ archiveId, archive, downloadCogUrl, downloadImageUrl, cogSize }: Order): DeliveredFile[] {
  const id = downloadCogUrl ? 'cog' : downloadImageUrl ? 'image' : null
  if (id === null || archiveId === undefined) return []
  return [
    {
      id,
      fileName: `${archiveId}.tif`,
      sceneId: archiveId,
      itemKey: archiveId,
      assetKey: 'data',
      role: 'data',
      mediaType: COG_TYPE,
      bytes: id === 'cog' ? (cogSize ?? null) : null,
      sha256: null,
      md5: null,
      datetime: archive ? new Date(archive.captureTimestamp).toISOString() : null,
      cloudCover: archive?.cloudCoveragePercent ?? null,
      bands: archive?.productType === 'DAY' ? RGB : [],
      properties: archive ? propertiesOf(archive) : {},
    },
  ]
}

/** Whose account it is, and what is missing before it can order. */
export async function checkSkyfiAccount(host: Host, options: CallOptions): Promise<AccountCheck> {
  const account = await ask(host, schemas.whoami, { path: '/auth/whoami', ...options }, 'account')
  if (!account) throw new VendorError('invalid-response', host.name, `${host.name} returned no account`)
  const { email, currentBudgetUsage, budgetAmount, hasValidSharedCard } = account
  const dollars = (cents: number) => `USD ${(cents / 100).toFixed(2)}`
  const budget = budgetAmount > 0 ? `${dollars(currentBudgetUsage)} of a budget of ${dollars(budgetAmount)} used` : null
  const card = hasValidSharedCard || budgetAmount > 0 ? null : 'no card on file: only open data can be ordered'
  return { detail: [`Account of ${email}`, ...(budget ? [budget] : []), ...(card ? [card] : [])].join('; ') }
}
