/**
 * Prices of orders. The vendor prices each part, contracted rates apply to them, and each group is rounded up once. Estimates and
 * placements use the same functions, so that the price shown is the price reserved.
 */
import { sqKmOf } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { roundUpCredits } from '#core/money.ts'
import type { Problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import type { SpendLine } from '#db/tables/money.ts'
import type { OrderedCapture } from '#db/tables/orders.ts'
import * as commitments from '#model/money/commitment.ts'
import type { OverlayAbout, Overlays } from '#ports/overlays.ts'
import { VendorError, type Product, type Vendors } from '#ports/vendors.ts'
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
  credits: number
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
  product: Product
  centsPerSqKm: number
  minimumSqKm: number
}

/** One group per host and product, and per day if requested; its area is the union of its captures. */
export async function priceCaptures(
  context: PricingContext,
  captures: readonly CaptureRequest[],
  splitByDate: boolean,
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
  const byGroup = Map.groupBy(priced, ({ capture, product }) =>
    JSON.stringify([product.hostName, product.id, splitByDate ? (capture.acquiredAt?.slice(0, 10) ?? '') : '']),
  )
  const groups = await Promise.all([...byGroup.values()].map((members) => groupOf(context, members)))
  return { groups: await atContractedRates(context, groups), errors: errors.toSorted((a, b) => a.index - b.index) }
}

interface Sourced {
  index: number
  id: string
  geometry: AreaGeometry
  host: string
  productId: string | null
}

/** Finds the host of a capture: the one named, or the first that has the scene. */
async function sourced({ vendors, signal }: PricingContext, capture: CaptureRequest, index: number): Promise<Sourced | Unpriced> {
  const { id, geometry, productId } = capture
  const refuse = (reason: string): Unpriced => ({ index, id, host: capture.host, reason, problem: null })
  if (capture.host !== null) {
    if (!vendors.source(capture.host)) return refuse(`Unknown host '${capture.host}'; see catalog.vendors.list`)
    if (!vendors.shop(capture.host)) return refuse(`'${capture.host}' provides open data, which is free and need not be ordered`)
    return { index, id, geometry, productId, host: capture.host }
  }
  for (const { hostName } of vendors.sources.filter(({ accessModel }) => accessModel === 'commercial')) {
    const scene = await vendors
      .catalog(hostName)
      .scene(id, { signal })
      .catch((error: unknown) => {
        if (error instanceof VendorError) return null // Another vendor may have it.
        throw error
      })
    if (scene) return { index, id, geometry, productId, host: hostName }
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
  try {
    const prices = await vendors.shop(host)!.price(
      captures.map(({ id, geometry, productId }) => ({ sceneId: id, geometry, ...(productId ? { productId } : {}) })),
      { signal },
    )
    return captures.map((requested, nth) => {
      const price = prices[nth]!
      if (!price.ok) return refuse(requested, price.reason)
      const product = vendors.product(price.productId)
      if (product?.type !== 'ARCHIVE') return refuse(requested, 'Its product cannot be ordered here')
      const { geometry, acquiredAt, centsPerSqKm, minimumSqKm } = price
      const reason = tooLarge(product, geometry, 'The capture')
      if (reason) return refuse(requested, reason)
      return { capture: { id: requested.id, host, geometry, acquiredAt }, product, centsPerSqKm, minimumSqKm }
    })
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
    return captures.map((requested) => refuse(requested, error.message, vendorProblem(error)))
  }
}

interface ListPriced extends PricedGroup {
  billedKm2: number
}

async function groupOf({ overlays, organizationId }: PricingContext, members: readonly PricedCapture[]): Promise<ListPriced> {
  const { product } = members[0]!
  const rates = members.map(({ capture, centsPerSqKm, minimumSqKm }) => ({ area: capture.geometry, centsPerSqKm, minimumSqKm }))
  const captures = members.map(({ capture }) => capture)
  return { product, captures, ...(await layered(overlays, rates, { organizationId, field: 'captures' })) }
}

/** Where areas overlap, only the most expensive one is charged. */
async function layered(
  overlays: Overlays,
  rates: readonly { area: AreaGeometry; centsPerSqKm: number; minimumSqKm: number }[],
  about: OverlayAbout,
): Promise<Omit<ListPriced, 'product' | 'captures'>> {
  const byRate = [...Map.groupBy(rates, ({ centsPerSqKm }) => centsPerSqKm)].toSorted(([a], [b]) => b - a)
  const layers = byRate.map(([, members]) => members.map(({ area }) => area))
  const { whole, addedSqKm } = await overlays.layers(layers, about)
  const cents = byRate.reduce((sum, [rate], index) => sum + addedSqKm[index]! * rate, 0)
  const least = { minimumSqKm: Math.max(...rates.map(({ minimumSqKm }) => minimumSqKm)), centsPerSqKm: byRate[0]![0] }
  return billed(whole, cents, least)
}

/** The vendor's minimum area is charged even if the area is smaller. */
function billed(
  area: AreaGeometry,
  cents: number,
  least: { minimumSqKm: number; centsPerSqKm: number },
): Omit<ListPriced, 'product' | 'captures'> {
  const km2 = sqKmOf(area)
  const missing = Math.max(0, least.minimumSqKm - km2)
  return { area, areaKm2: km2, billedKm2: km2 + missing, credits: roundUpCredits(cents + missing * least.centsPerSqKm) }
}

async function atContractedRates({ db, organizationId, now }: PricingContext, groups: readonly ListPriced[]): Promise<PricedGroup[]> {
  const lines = groups.map(({ product, billedKm2, credits }) => ({ product: product.name, area_km2: billedKm2, credits }))
  const priced = await commitments.priced(db, organizationId, lines, now)
  return groups.map(({ billedKm2: _billed, ...group }, index) => ({ ...group, credits: priced[index]!.credits }))
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
  const groups: (ListPriced & { index: number })[] = []
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

/** Each feature is limited and priced separately; overlaps are charged once. */
async function priceFeatures(
  { vendors, overlays, organizationId, signal }: PricingContext,
  { product, areas, params, field }: TaskingRequest,
): Promise<ListPriced | { reason: string }> {
  for (const [index, area] of areas.entries()) {
    const reason = tooLarge(product, area, `Feature ${index + 1}`)
    if (reason) return { reason }
  }
  const prices = await vendors.shop(product.hostName)!.price(
    areas.map((geometry) => ({ productId: product.id, geometry, params })),
    { signal },
  )
  const rates: { area: AreaGeometry; centsPerSqKm: number; minimumSqKm: number }[] = []
  for (const [index, price] of prices.entries()) {
    if (!price.ok) return { reason: areas.length === 1 ? price.reason : `Feature ${index + 1}: ${price.reason}` }
    rates.push({ area: areas[index]!, centsPerSqKm: price.centsPerSqKm, minimumSqKm: price.minimumSqKm })
  }
  return { product, captures: null, ...(await layered(overlays, rates, { organizationId, field })) }
}

/** A vendor's offer at the organization's contracted rates. */
export async function contracted(
  db: Db,
  organizationId: string,
  group: { productName: string; areaKm2: number },
  cents: number,
  now: Date,
): Promise<number> {
  const [line] = await commitments.priced(db, organizationId, [{ ...lineOf(group), credits: cents }], now)
  return line!.credits
}

const lineOf = ({ productName, areaKm2: km2 }: { productName: string; areaKm2: number }) => ({ product: productName, area_km2: km2 })

/** The spend lines of an order's groups. */
export const linesOf = (groups: readonly { productName: string; areaKm2: number; reservedCredits: number }[]): SpendLine[] =>
  groups.filter(({ reservedCredits }) => reservedCredits > 0).map((group) => ({ ...lineOf(group), credits: group.reservedCredits }))

/** The charge for a partial delivery: rounded up, and never more than was reserved. */
export const shareOf = (reservedCredits: number, percent: number): number =>
  Math.min(reservedCredits, roundUpCredits((reservedCredits * percent) / 100))
