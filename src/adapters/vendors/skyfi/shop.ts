/**
 * Orders at SkyFi. An order is one archive or one new image, and one convex area, is charged when it is placed and cannot be cancelled.
 * SkyFi does not recognize a repeated order, so we look for our reference in its metadata first.
 */
import { clipToConvex, sqKmOf } from '#core/area.ts'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { convexHull, convexRing, polygonWkt, readWkt } from '#core/wkt.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { DeliveredFile, PriceRequest, PriceResult, VendorOrder, VendorOrderRequest, VendorShop } from '#ports/vendors/shop.ts'
import type { Product } from '#ports/vendors/source.ts'
import type { Opportunity, OpportunitySearch, Study, TaskingRequest } from '#ports/vendors/tasking.ts'
import type { AccountCheck } from '#ports/vendors/vendors.ts'
import { ask } from '#adapters/vendors/ask.ts'
import type { Host } from '#adapters/vendors/host.ts'
import type { Archives } from './archives.ts'
import { propertiesOf } from './catalog.ts'
import { standingOf } from './states.ts'
import { CONVEX, MAX_VERTICES, SkyfiTasking } from './tasking.ts'
import { schemas, type Archive, type Order } from './wire.ts'

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
  readonly clock: Clock
}

export const createSkyfiShop = (host: Host, parts: ShopParts): VendorShop => new SkyfiShop(host, parts)

class SkyfiShop implements VendorShop {
  readonly #host: Host
  readonly #products: readonly Product[]
  readonly #archives: Archives
  readonly #tasking: SkyfiTasking

  constructor(host: Host, { products, archives, clock }: ShopParts) {
    this.#host = host
    this.#products = products
    this.#archives = archives
    this.#tasking = new SkyfiTasking(host, { products, clock })
  }

  async price(captures: readonly PriceRequest[], options: CallOptions = {}): Promise<readonly PriceResult[]> {
    const isOneArea = captures.filter(({ sceneId }) => sceneId === undefined).length <= 1
    return await Promise.all(
      captures.map(async ({ sceneId, ...capture }) => {
        if (sceneId !== undefined) return await this.#priceScene(sceneId, capture, options)
        return isOneArea ? await this.#tasking.price(capture, options) : refuse(ONE_IMAGE)
      }),
    )
  }

  async #priceScene(sceneId: string, { productId, geometry }: PriceRequest, options: CallOptions): Promise<PriceResult> {
    const archive = await this.#archives.get(sceneId, options)
    const collection = archive && `skyfi-${archive.productType.toLowerCase()}`
    const product = this.#products.find((each) => each.type === 'ARCHIVE' && each.collection === collection)
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
    const { reference, callbackUrl, captures } = request
    const wanted = captures ? await this.#wantedScene(request, options) : await this.#tasking.wanted(request, options)
    this.#requirePrice(wanted.cents, request.expectedCents)
    const body = {
      ...wanted.body,
      deliveryDriver: 'NONE',
      label: `Groundtrack ${reference}`,
      orderLabel: `Groundtrack ${reference}`,
      metadata: { reference },
      // SkyFi cannot reach a service without a public address.
      ...(callbackUrl?.startsWith('https:') ? { webhookUrl: callbackUrl } : {}),
    }
    const path = captures ? '/order-archive' : '/order-tasking'
    const order = await ask(this.#host, schemas.order, { method: 'POST', path, body, ...options }, 'order')
    const sceneId = captures?.[0]?.sceneId
    if (!order || order.metadata?.['reference'] !== reference || order.archiveId !== sceneId)
      throw this.#error('invalid-response', 'confirmed another order than requested')
    return toOrder(order)
  }

  /** The fields of an order that say which archive is wanted, and what it costs now. */
  async #wantedScene(request: VendorOrderRequest, options: CallOptions): Promise<{ body: object; cents: number }> {
    const { sceneId, geometry } = this.#capture(request)
    const archive = await this.#archives.current(sceneId, options)
    if (!archive) throw this.#error('refused', `does not have the scene '${sceneId}' any more`)
    const ring = convexRing(geometry)
    if (!ring) throw this.#error('refused', CONVEX)
    const cents = Math.max(sqKmOf(geometry), archive.minSqKm) * archive.priceForOneSquareKmCents
    return { body: { aoi: polygonWkt([ring]), archiveId: sceneId }, cents }
  }

  async findOrder({ reference, createdAt, captures }: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder | null> {
    const oldest = createdAt.getTime() - LOOK_BACK_MS
    const type = captures ? 'ARCHIVE' : 'TASKING'
    for (let page = 0; page < MAX_LOOK_PAGES; page++) {
      const query = `orderType=${type}&sort_columns=created_at&sort_directions=desc&pageNumber=${page}&pageSize=${LOOK_PAGE_SIZE}`
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

  requestStudy(request: TaskingRequest, options: CallOptions = {}): Promise<Study> {
    return this.#tasking.requestStudy(request, options)
  }

  study(id: string, options: CallOptions = {}): Promise<Study> {
    return this.#tasking.study(id, options)
  }

  requestQuotation(): Promise<never> {
    return this.#unquoted()
  }

  quotation(): Promise<never> {
    return this.#unquoted()
  }

  opportunities(query: OpportunitySearch, options: CallOptions = {}): Promise<readonly Opportunity[]> {
    return this.#tasking.opportunities(query, options)
  }

  async #unquoted(): Promise<never> {
    throw this.#error('refused', 'issues no quotations')
  }

  #capture({ captures }: VendorOrderRequest): { sceneId: string; geometry: AreaGeometry } {
    const [capture, second] = captures ?? []
    if (!capture || second) throw this.#error('refused', 'takes one scene per order')
    return capture
  }

  /** The price can have risen since it was reserved. */
  #requirePrice(cents: number, expectedCents: number | null): void {
    if (expectedCents === null || cents <= Math.ceil(expectedCents * (1 + PRICE_TOLERANCE))) return
    throw this.#error('refused', `now sells this for USD ${(cents / 100).toFixed(2)}, more than was agreed on`)
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

const ONE_IMAGE = 'SkyFi takes one area per order: order several areas as several groups'

const refuse = (reason: string): PriceResult => ({ ok: false, reason })

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

/** The COG; some providers deliver only the image, a GeoTIFF. A new image has no scene ID but that of its order. */
function filesOf({
  id: orderId,
  orderType,
  archiveId,
  archive,
  productType,
  downloadCogUrl,
  downloadImageUrl,
  cogSize,
}: Order): DeliveredFile[] {
  const id = downloadCogUrl ? 'cog' : downloadImageUrl ? 'image' : null
  const sceneId = archiveId ?? (orderType === 'TASKING' ? orderId : null)
  if (id === null || sceneId === null) return []
  return [
    {
      id,
      fileName: `${sceneId}.tif`,
      sceneId,
      itemKey: sceneId,
      assetKey: 'data',
      role: 'data',
      mediaType: COG_TYPE,
      bytes: id === 'cog' ? (cogSize ?? null) : null,
      sha256: null,
      md5: null,
      datetime: archive ? new Date(archive.captureTimestamp).toISOString() : null,
      cloudCover: archive?.cloudCoveragePercent ?? null,
      bands: (archive?.productType ?? productType) === 'DAY' ? RGB : [],
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
