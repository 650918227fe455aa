/**
 * Prices of orders. The vendor prices each part in its currency, each group is converted and rounded up once, and contracted rates
 * apply to that. Estimates and placements use the same functions, so that the price shown is the price reserved.
 */
import { sqKmOf } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { roundUpCredits } from '#core/money.ts'
import type { Problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import type { SpendLine } from '#db/tables/money.ts'
import type { OrderedCapture } from '#db/tables/orders.ts'
import * as commitments from '#model/money/commitment.ts'
import type { OverlayContext, Overlays } from '#ports/overlays.ts'
import { VendorError } from '#ports/vendors/call.ts'
import type { VendorPrice } from '#ports/vendors/shop.ts'
import type { Product } from '#ports/vendors/source.ts'
import type { Vendors } from '#ports/vendors/vendors.ts'
import type { VendorCharge } from './order-group.ts'
import { chargeOf, creditsFor, saleAt, type Sale } from './sale.ts'
import { vendorProblem } from './vendor-problem.ts'

interface PricingContext {
  db: Db
  vendors: Vendors
  overlays: Overlays
  organizationId: string
  now: Date
  signal: AbortSignal
}

/** A part of an order that cannot be priced, with the reason. */
export interface Unpriced {
  /** Position in the request. */
  index: number
  id: string | null
  host: string | null
  reason: string
  /** Set if the vendor failed; null if the request is the cause. */
  problem: Problem | null
}

export interface PricedGroup {
  product: Product
  captures: OrderedCapture[] | null
  area: AreaGeometry
  areaKm2: number
  /** The area that is charged: at least the vendor's minimum. */
  billedKm2: number
  credits: number
  charge: VendorCharge
}

export interface CaptureRequest {
  id: string
  geometry: AreaGeometry
  host: string | null
  /** Null for the vendor's default product for the scene. */
  productId: string | null
}

interface PricedCapture {
  capture: OrderedCapture
  /** The area that was asked for, of which the scene covers a part or all. */
  requested: AreaGeometry
  product: Product
  price: VendorPrice
  sale: Sale
}

interface Grouping {
  /** One group per acquisition day. */
  splitByDate: boolean
  /** One group per capture, as if each were ordered alone. */
  separately: boolean
}

/**
 * One group per host and product, per day or capture if requested, and per area if the vendor takes one per order, with as many
 * captures as the vendor takes in one order. Its area is the union of its captures.
 */
export async function priceCaptures(
  context: PricingContext,
  captures: readonly CaptureRequest[],
  { splitByDate, separately }: Grouping,
): Promise<{ groups: PricedGroup[]; errors: Unpriced[] }> {
  const located = await Promise.all(captures.map((capture, index) => sourced(context, capture, index)))
  const errors: Unpriced[] = located.filter((capture) => 'reason' in capture)
  const orderable = located.filter((capture) => 'host' in capture && !('reason' in capture)) as Sourced[]
  const priced: PricedCapture[] = []
  for (const host of new Set(orderable.map((capture) => capture.host)))
    for (const result of await priceAtHost(
      context,
      host,
      orderable.filter((capture) => capture.host === host),
    )) {
      if ('reason' in result) errors.push(result)
      else priced.push(result)
    }
  const byGroup = Map.groupBy(priced, ({ capture, requested, product, sale }, index) =>
    JSON.stringify([
      separately ? index : null,
      product.hostName,
      product.id,
      splitByDate ? (capture.acquiredAt?.slice(0, 10) ?? '') : '',
      sale.source.hasOneAreaPerOrder ? requested : null,
    ]),
  )
  const orders = [...byGroup.values()].flatMap((members) => inParts(members, members[0]!.sale.source.capturesPerOrder))
  const groups = await Promise.all(orders.map((members) => groupOf(context, members)))
  return { groups: await atContractedRates(context, groups), errors: errors.toSorted((a, b) => a.index - b.index) }
}

const inParts = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, part) => list.slice(part * size, (part + 1) * size))

interface Sourced {
  index: number
  id: string
  geometry: AreaGeometry
  host: string
  productId: string | null
  sale: Sale
}

/** Finds the host of a capture: the one named, or the first that has the scene. */
async function sourced(context: PricingContext, capture: CaptureRequest, index: number): Promise<Sourced | Unpriced> {
  const { vendors, signal } = context
  const { id, geometry, productId } = capture
  const refuse = (reason: string): Unpriced => ({ index, id, host: capture.host, reason, problem: null })
  if (capture.host !== null) {
    if (!vendors.source(capture.host)) return refuse(`Unknown host '${capture.host}'; see catalog.vendors.list`)
    if (!vendors.shop(capture.host)) return refuse(`'${capture.host}' provides open data, which is free and need not be ordered`)
    const sale = await saleAt(context, capture.host)
    return 'reason' in sale ? refuse(sale.reason) : { index, id, geometry, productId, host: capture.host, sale }
  }
  for (const { hostName } of vendors.sources.filter(({ accessModel }) => accessModel === 'commercial')) {
    const sale = await saleAt(context, hostName)
    if ('reason' in sale) continue
    const scene = await vendors
      .catalog(hostName, sale.accountId)
      .scene(id, { signal })
      .catch((error: unknown) => {
        if (error instanceof VendorError) return null // Another vendor may have it.
        throw error
      })
    if (scene) return { index, id, geometry, productId, host: hostName, sale }
  }
  return refuse('No vendor has this scene; send its host, as in catalog.search')
}

async function priceAtHost(
  { vendors, signal }: PricingContext,
  host: string,
  captures: readonly Sourced[],
): Promise<(PricedCapture | Unpriced)[]> {
  const refuse = ({ index, id }: Sourced, reason: string, problem: Problem | null = null): Unpriced => ({
    index,
    id,
    host,
    reason,
    problem,
  })
  const { sale } = captures[0]!
  try {
    const prices = await vendors.shop(host, sale.accountId)!.price(
      captures.map(({ id, geometry, productId }) => ({ sceneId: id, geometry, ...(productId ? { productId } : {}) })),
      { signal },
    )
    return captures.map((requested, nth) => {
      const price = prices[nth]!
      if (!price.ok) return refuse(requested, price.reason)
      const product = vendors.product(price.productId)
      if (product?.type !== 'ARCHIVE') return refuse(requested, 'Its product cannot be ordered here')
      const { geometry, acquiredAt } = price
      const reason = tooLarge(product, geometry, 'The capture') ?? unsellable(sale, price.price)
      if (reason) return refuse(requested, reason)
      return { capture: { id: requested.id, host, geometry, acquiredAt }, requested: requested.geometry, product, price: price.price, sale }
    })
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
    return captures.map((requested) => refuse(requested, error.message, vendorProblem(error)))
  }
}

/** Why we cannot sell something at the vendor's price; null if we can. */
const unsellable = ({ source: { hostName }, accountId }: Sale, { basis }: VendorPrice): string | null =>
  basis === 'contract' && accountId === null
    ? `'${hostName}' sells it only under a contract: connect an account of your organization with vendors.accounts.put`
    : null

interface PricedArea {
  area: AreaGeometry
  price: VendorPrice
}

async function groupOf(context: PricingContext, members: readonly PricedCapture[]): Promise<PricedGroup> {
  const { product, sale } = members[0]!
  const areas = members.map(({ capture, price }) => ({ area: capture.geometry, price }))
  const priced = await groupPrice(context, sale, areas, 'captures')
  const captures = members.map(({ capture, price }) =>
    sale.source.billing === 'each' && price.basis !== 'contract'
      ? { ...capture, vendorCents: roundUpCredits(centsOf(price, sqKmOf(capture.geometry))) }
      : capture,
  )
  return { product, captures, ...priced }
}

/** The price of areas that one vendor receives as one order. */
async function groupPrice(
  { overlays, organizationId }: PricingContext,
  sale: Sale,
  areas: readonly PricedArea[],
  field: string,
): Promise<Omit<PricedGroup, 'product' | 'captures'>> {
  const { area, cents, billedKm2 } = await vendorCharge(overlays, sale, areas, { organizationId, field })
  return { area, areaKm2: sqKmOf(area), billedKm2, credits: creditsFor(sale, cents) ?? 0, charge: chargeOf(sale, cents) }
}

interface Charged {
  area: AreaGeometry
  /** Not rounded; null: by contract. */
  cents: number | null
  billedKm2: number
}

/** What the vendor charges for areas, the way this vendor does. */
async function vendorCharge(overlays: Overlays, { source }: Sale, areas: readonly PricedArea[], about: OverlayContext): Promise<Charged> {
  const rates = areas.flatMap(({ area, price }) => (price.basis === 'area' ? [{ area, ...price }] : []))
  if (source.billing === 'union' && rates.length === areas.length) return await layered(overlays, rates, about)
  const { whole } = await overlays.layers([areas.map(({ area }) => area)], about)
  const billedKm2 = areas.reduce((sum, { area, price }) => sum + Math.max(sqKmOf(area), price.basis === 'area' ? price.minimumSqKm : 0), 0)
  if (areas.some(({ price }) => price.basis === 'contract')) return { area: whole, cents: null, billedKm2 }
  const perOrder = Math.max(0, ...areas.map(({ price }) => (price.basis === 'order' ? price.cents : 0)))
  const others = areas.filter(({ price }) => price.basis !== 'order')
  return { area: whole, billedKm2, cents: others.reduce((sum, { area, price }) => sum + centsOf(price, sqKmOf(area)), perOrder) }
}

/** The vendor's price of one area. Its minimum is charged even if the area is smaller. */
function centsOf(price: VendorPrice, km2: number): number {
  if (price.basis === 'area') return Math.max(km2, price.minimumSqKm) * price.centsPerSqKm
  return price.basis === 'contract' ? 0 : price.cents
}

/** Where areas overlap, only the most expensive one is charged; the vendor's minimum area, once. */
async function layered(
  overlays: Overlays,
  rates: readonly { area: AreaGeometry; centsPerSqKm: number; minimumSqKm: number }[],
  about: OverlayContext,
): Promise<Charged> {
  const byRate = [...Map.groupBy(rates, ({ centsPerSqKm }) => centsPerSqKm)].toSorted(([a], [b]) => b - a)
  const layers = byRate.map(([, members]) => members.map(({ area }) => area))
  const { whole, addedSqKm } = await overlays.layers(layers, about)
  const km2 = sqKmOf(whole)
  const missing = Math.max(0, Math.max(...rates.map(({ minimumSqKm }) => minimumSqKm)) - km2)
  const cents = byRate.reduce((sum, [rate], index) => sum + addedSqKm[index]! * rate, missing * byRate[0]![0])
  return { area: whole, cents, billedKm2: km2 + missing }
}

/** Rates that were agreed with us do not apply to what the vendor bills. */
async function atContractedRates({ db, organizationId, now }: PricingContext, groups: readonly PricedGroup[]): Promise<PricedGroup[]> {
  const ours = groups.filter(({ charge }) => charge.accountId === null)
  const lines = ours.map(({ product, billedKm2, credits }) => ({ product: product.name, area_km2: billedKm2, credits }))
  const priced = await commitments.priced(db, organizationId, lines, now)
  const agreed = new Map(ours.map((group, index) => [group, priced[index]!.credits]))
  return groups.map((group) => ({ ...group, credits: agreed.get(group) ?? group.credits }))
}

export interface TaskingRequest {
  product: Product
  /** One per feature. */
  areas: readonly AreaGeometry[]
  params: Record<string, unknown>
  /** The name of the features in error messages. */
  field: string
}

/** Why an area is too large for one image of a product; null if it is not. */
export function tooLarge({ name, type, maxSqKm }: Product, area: AreaGeometry, what: string): string | null {
  const km2 = sqKmOf(area)
  if (maxSqKm === null || km2 <= maxSqKm) return null
  const unit = type === 'ARCHIVE' ? 'capture' : 'feature'
  return `${what} covers ${km2.toFixed(1)} km²; '${name}' allows at most ${maxSqKm} km² per ${unit} (maxSqKm)`
}

/** Estimates the price of new images; the firm price comes from a study's option or a quotation. */
export async function priceTasking(
  context: PricingContext,
  requests: readonly TaskingRequest[],
): Promise<{ groups: (PricedGroup & { index: number })[]; errors: Unpriced[] }> {
  const errors: Unpriced[] = []
  const groups: (PricedGroup & { index: number })[] = []
  for (const [index, request] of requests.entries()) {
    const { name: id, hostName: host } = request.product
    try {
      const priced = await priceFeatures(context, request)
      if ('reason' in priced) errors.push({ index, id, host, reason: priced.reason, problem: null })
      else groups.push({ ...priced, index })
    } catch (error) {
      if (!(error instanceof VendorError)) throw error
      errors.push({ index, id, host, reason: error.message, problem: vendorProblem(error) })
    }
  }
  const priced = await atContractedRates(context, groups)
  return { groups: priced.map((group, nth) => ({ ...group, index: groups[nth]!.index })), errors }
}

/** Each feature is limited and priced separately. */
async function priceFeatures(
  context: PricingContext,
  { product, areas, params, field }: TaskingRequest,
): Promise<PricedGroup | { reason: string }> {
  for (const [index, area] of areas.entries()) {
    const reason = tooLarge(product, area, `Feature ${index + 1}`)
    if (reason) return { reason }
  }
  const sale = await saleAt(context, product.hostName)
  if ('reason' in sale) return sale
  const prices = await context.vendors.shop(product.hostName, sale.accountId)!.price(
    areas.map((geometry) => ({ productId: product.id, geometry, params })),
    { signal: context.signal },
  )
  const priced: PricedArea[] = []
  for (const [index, price] of prices.entries()) {
    const reason = price.ok ? unsellable(sale, price.price) : price.reason
    if (reason !== null) return { reason: areas.length === 1 ? reason : `Feature ${index + 1}: ${reason}` }
    if (price.ok) priced.push({ area: areas[index]!, price: price.price })
  }
  return { product, captures: null, ...(await groupPrice(context, sale, priced, field)) }
}

/** Credits for a vendor's offer, at the organization's contracted rates if we sell it. Null: the vendor states no price. */
export async function offered(
  db: Db,
  organizationId: string,
  { sale, group }: { sale: Sale; group: { productName: string; areaKm2: number } },
  cents: number | null,
  now: Date,
): Promise<number | null> {
  const credits = creditsFor(sale, cents)
  if (credits === null || sale.accountId !== null) return credits
  const [line] = await commitments.priced(db, organizationId, [{ ...lineOf(group), credits }], now)
  return line!.credits
}

const lineOf = ({ productName, areaKm2: km2 }: { productName: string; areaKm2: number }) => ({ product: productName, area_km2: km2 })

/** The spend lines of an order's groups. */
export const linesOf = (groups: readonly { productName: string; areaKm2: number; reservedCredits: number }[]): SpendLine[] =>
  groups.filter(({ reservedCredits }) => reservedCredits > 0).map((group) => ({ ...lineOf(group), credits: group.reservedCredits }))

/** The charge for a partial delivery: rounded up, and never more than was reserved. */
export const shareOf = (reservedCredits: number, percent: number): number =>
  Math.min(reservedCredits, roundUpCredits((reservedCredits * percent) / 100))
