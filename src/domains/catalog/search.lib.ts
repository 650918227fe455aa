/** Shared by all searches: parsing filters, finding sources, and pricing scenes for sale. */
import { sqKmOf } from '#core/area.ts'
import { requireArea, type AreaGeometry } from '#core/geometry.ts'
import { parseInterval } from '#core/interval.ts'
import { audOf } from '#core/money.ts'
import { boundsOf } from '#core/position.ts'
import { invalidField, problem } from '#core/problem.ts'
import { requireBbox } from '#model/imagery/footprint.ts'
import { priced } from '#model/money/commitment.ts'
import type { Context } from '#operation.ts'
import { creditsFor } from '#model/orders/sale.ts'
import { requireAccount, type UsableSource } from '#model/vendors/account.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { Scene, SceneSearch } from '#ports/vendors/catalog.ts'
import type { PriceResult, VendorPrice, VendorShop } from '#ports/vendors/shop.ts'
import type { Source } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import { toFeature, type Feature, type FilterFields } from './wire.ts'

export type Filters = Omit<SceneSearch, 'limit' | 'cursor'>

/** Geodesic, with a tolerance of 1% for other ways to measure. */
const MAX_SQ_KM = 50_000 * 1.01

export function parseFilters({ collections, ids, datetime, query, bbox, intersects }: FilterFields): Filters {
  if (bbox && intersects) throw problem('bad-request', 'Send bbox or intersects, not both')
  const cloudCover = query ? cloudCoverOf(query) : null
  return {
    ...(collections?.length ? { collections } : {}),
    ...(ids?.length ? { ids } : {}),
    ...(datetime ? parseInterval(datetime, 'datetime') : {}),
    ...(bbox ? { bbox: requireBbox(bbox, 'bbox') as [number, number, number, number] } : {}),
    ...(intersects ? { intersects: requireSearchArea(intersects) } : {}),
    ...(cloudCover ? { cloudCover } : {}),
  }
}

function requireSearchArea(value: unknown): AreaGeometry {
  const area = requireArea(value, 'intersects', ['Polygon'])
  const sqKm = sqKmOf(area)
  if (sqKm > MAX_SQ_KM) throw invalidField('intersects', `covers ${Math.round(sqKm)} km²; the maximum is 50,000 km²`)
  return area
}

const OPERATORS = ['GTE', 'LTE', 'GT', 'LT'] as const

function cloudCoverOf(query: Record<string, unknown>): SceneSearch['cloudCover'] | null {
  const { cloudCoverage, ...others } = query
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalidField('query', `supports only cloudCoverage, not '${other.slice(0, 60)}'`)
  if (cloudCoverage === undefined) return null
  const entries = typeof cloudCoverage === 'object' && cloudCoverage !== null ? Object.entries(cloudCoverage) : []
  const [entry] = entries
  const operator = OPERATORS.find((name) => name === entry?.[0])
  if (entries.length !== 1 || !operator) throw invalidField('query.cloudCoverage', 'must have exactly one of GTE, LTE, GT and LT')
  const percent: unknown = entry![1]
  if (typeof percent !== 'number' || percent < 0 || percent > 100)
    throw invalidField(`query.cloudCoverage.${operator}`, 'must be a percentage from 0 to 100')
  return { operator, percent }
}

function requireSource(vendors: Vendors, hostName: string): Source {
  const source = vendors.source(hostName)
  if (source) return source
  const known = vendors.sources.map((registered) => registered.hostName)
  throw problem('not-found', `Unknown host '${hostName.slice(0, 100)}'. Known hosts: ${known.join(', ') || 'none'}`, {
    members: { known_hosts: known },
  })
}

/** A source with the account that the caller uses it with; 400 if it needs one and there is none. */
export async function requireUsable(
  { db, vendors, principal }: Pick<Context, 'db' | 'vendors' | 'principal'>,
  hostName: string,
): Promise<UsableSource> {
  const source = requireSource(vendors, hostName)
  return { source, accountId: await requireAccount(db, source, principal.organizationId) }
}

/** Collections to search: the requested ones that are registered, or all requested ones of the full catalogue. Null if none. */
export function collectionsFor(source: Source, requested: readonly string[] | undefined, isFull: boolean): readonly string[] | null {
  if (isFull) return requested ?? []
  const known = source.collections.map(({ id }) => id)
  const chosen = requested ? known.filter((id) => requested.includes(id)) : known
  return chosen.length > 0 ? chosen : null
}

type PricingContext = Pick<Context, 'db' | 'vendors' | 'clock' | 'principal' | 'baseUrl' | 'signal'>

/** Features of a host's scenes; scenes for sale have the organization's price. */
export async function pricedFeatures(
  context: PricingContext,
  { source, accountId }: UsableSource,
  scenes: readonly Scene[],
): Promise<Feature[]> {
  const prices = await pricesOf(context, { source, accountId }, scenes)
  return scenes.map((scene, index) => toFeature(scene, source, context.baseUrl, prices[index] ?? {}))
}

/** Prices are requested for a probe of 1 km², so that those per area apply to any area. */
async function pricesOf(
  { db, vendors, clock, principal, signal }: PricingContext,
  sale: UsableSource,
  scenes: readonly Scene[],
): Promise<Record<string, unknown>[]> {
  const { source, accountId } = sale
  const shop = vendors.shop(source.hostName, accountId)
  const sold = scenes.filter(({ productId, geometry }) => productId !== null && geometry !== null)
  const unpriced = ({ productId }: Scene, reason: string | null) =>
    productId === null ? {} : { dataProduct: productId, ...(reason === null ? {} : { priceError: reason }) }
  if (!shop) return []
  if (!source.hasSearchPrices) return scenes.map((scene) => unpriced(scene, null))
  const quotes = sold.length === 0 ? [] : await quotesOf(shop, sold, signal)
  const offers = quotes.flatMap((quote) => {
    const credits = quote.ok ? creditsFor(sale, unitCents(quote.price)) : null
    return quote.ok && credits !== null ? [{ quote, line: { product: vendors.product(quote.productId)!.name, area_km2: 1, credits } }] : []
  })
  const lines = offers.map(({ line }) => line)
  const hasRates = principal.organizationId !== null && accountId === null && lines.length > 0
  const agreed = hasRates ? await priced(db, principal.organizationId!, lines, clock.now()) : lines
  const credits = new Map(offers.map(({ quote }, index) => [quote as PriceResult, agreed[index]!.credits]))
  const byScene = new Map(sold.map((scene, index) => [scene.id, quotes[index]!]))
  return scenes.map((scene) => {
    const quote = byScene.get(scene.id)
    return quote?.ok ? shownPrice(quote, sale, credits.get(quote)) : unpriced(scene, quote?.reason ?? 'Its footprint is not known')
  })
}

/** Scenes are worth showing even if the vendor does not state their prices now. */
async function quotesOf(shop: VendorShop, sold: readonly Scene[], signal: AbortSignal): Promise<readonly PriceResult[]> {
  const requests = sold.map((scene) => ({ sceneId: scene.id, productId: scene.productId!, geometry: probeIn(scene) }))
  try {
    return await shop.price(requests, { signal })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof VendorError)) throw error
    return requests.map(() => ({ ok: false, reason: error.message }))
  }
}

/** Cents of the vendor's currency for 1 km², a scene or an order; null: by contract. */
function unitCents(price: VendorPrice): number | null {
  if (price.basis === 'area') return price.centsPerSqKm
  return price.basis === 'contract' ? null : price.cents
}

/** What a scene shows about its price: in credits, or in the vendor's currency if the vendor bills the organization. */
function shownPrice(
  { productId, price, resolutionClass }: Extract<PriceResult, { ok: true }>,
  { source, accountId }: UsableSource,
  credits: number | undefined,
): Record<string, unknown> {
  const about = { dataProduct: productId, pricingResolution: resolutionClass }
  if (accountId !== null) {
    const cents = unitCents(price)
    const amount = cents === null ? null : cents / 100
    return { ...about, billedByVendor: { currency: source.currency, amount, per: PRICE_UNITS[price.basis] } }
  }
  if (credits === undefined) return { ...about, priceError: noPriceReason(source, price) }
  if (price.basis === 'area') return { ...about, pricePerSqKm: audOf(credits), creditsPerSqKm: credits }
  return { ...about, price: audOf(credits), credits, pricePer: PRICE_UNITS[price.basis] }
}

const noPriceReason = ({ hostName, currency }: Source, { basis }: VendorPrice): string =>
  basis === 'contract' ? `'${hostName}' sells it only under a contract` : `There is no exchange rate for ${currency}`

const PRICE_UNITS = { area: 'km2', scene: 'scene', order: 'order', contract: null } as const

const KM_PER_DEGREE = 111.32

/** 1 km² in the centre of a scene. */
function probeIn({ geometry, bbox }: Scene): AreaGeometry {
  const [west, south, east, north] = bbox && bbox[0] <= bbox[2] ? bbox : boxOfFirst(geometry)
  const [x, y] = [(west + east) / 2, (south + north) / 2]
  const halfY = 0.5 / KM_PER_DEGREE
  const halfX = halfY / Math.max(0.05, Math.cos((y * Math.PI) / 180))
  return {
    type: 'Polygon',
    coordinates: [
      [
        [x - halfX, y - halfY],
        [x + halfX, y - halfY],
        [x + halfX, y + halfY],
        [x - halfX, y + halfY],
        [x - halfX, y - halfY],
      ],
    ],
  }
}

/** Of a geometry in two parts, as at the antimeridian, the first. */
function boxOfFirst(geometry: Scene['geometry']): readonly [number, number, number, number] {
  const { type, coordinates } = geometry as AreaGeometry
  return boundsOf(type === 'Polygon' ? coordinates[0]! : coordinates[0]![0]!)
}
