/**
 * New images through SkyFi: the study lists passes of one provider's satellites, of which the customer accepts one. Prices are those of
 * predicted passes, because SkyFi does not document what its price list looks like.
 */
import { sqKmOf } from '#core/area.ts'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry, Position } from '#core/geometry.ts'
import { DAY_MS } from '#core/time.ts'
import { convexRing, polygonWkt } from '#core/wkt.ts'
import { ask } from '#adapters/vendors/ask.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { PriceRequest, PriceResult, VendorOrderRequest } from '#ports/vendors/shop.ts'
import type { Product } from '#ports/vendors/source.ts'
import type { Opportunity, OpportunitySearch, Study, TaskingRequest } from '#ports/vendors/tasking.ts'
import { schemas, type Feasibility, type Pass } from './wire.ts'

/** SkyFi predicts passes only so long ahead; a minute more, because our clocks can differ. */
const AHEAD_MS = DAY_MS + 60_000
/** Passes whose price is read again before an order, if the accepted one is too near to be predicted. */
const PRICE_DAYS = 7
/** Passes that one study offers, the earliest. */
const MAX_OPTIONS = 50
export const MAX_VERTICES = 500
const DEFAULT_ANGLE = 45
export const CONVEX = `takes one convex polygon without holes and with at most ${MAX_VERTICES} vertices: order a larger area in parts`

type Params = TaskingRequest['params']

/** `PROVIDER/TYPE/RESOLUTION`, the vendor's names of who takes which kind of image. */
interface Sold {
  readonly provider: string
  readonly productType: string
  readonly resolution: string
}

interface Window {
  readonly from: Date
  readonly to: Date
}

interface Rate {
  readonly centsPerSqKm: number
  readonly minimumSqKm: number
  readonly maximumSqKm: number
}

/** What we must know when SkyFi has answered, in the ID of the study. */
interface Asked {
  readonly id: string
  readonly provider: string
  readonly reference: string
  readonly cents: number
}

interface TaskingParts {
  readonly products: readonly Product[]
  readonly clock: Clock
}

export class SkyfiTasking {
  readonly #host: Host
  readonly #products: readonly Product[]
  readonly #clock: Clock

  constructor(host: Host, { products, clock }: TaskingParts) {
    this.#host = host
    this.#products = products
    this.#clock = clock
  }

  async price({ productId, geometry, params = {} }: PriceRequest, options: CallOptions): Promise<PriceResult> {
    const product = this.#products.find(({ id, type }) => id === productId && type === 'TASKING')
    const sold = product && soldAs(product)
    if (!sold) return { ok: false, reason: 'SkyFi does not sell this product here' }
    try {
      const { centsPerSqKm, minimumSqKm } = await this.#rate(sold, this.#ring(geometry), { ...windowOf(params), params }, options)
      const price = { basis: 'area' as const, centsPerSqKm, minimumSqKm }
      return { ok: true, productId: product.id, price, resolutionClass: sold.resolution, geometry, acquiredAt: null }
    } catch (error) {
      if (error instanceof VendorError && error.code === 'refused') return { ok: false, reason: error.message }
      throw error
    }
  }

  /** A study costs nothing, so that one whose response was lost is requested again. */
  async requestStudy({ reference, productId, area, params }: TaskingRequest, options: CallOptions): Promise<Study> {
    if (area.type === 'Point') throw this.#error('refused', CONVEX)
    const sold = this.#soldAs(productId)
    const [ring, { from, to }] = [this.#ring(area), windowOf(params)]
    const rate = await this.#rate(sold, ring, { from, to, params }, options)
    const { provider: requiredProvider, productType, resolution } = sold
    const body = {
      aoi: polygonWkt([ring]),
      productType,
      resolution,
      requiredProvider,
      startDate: from.toISOString(),
      endDate: to.toISOString(),
      ...(typeof params['cloudCoverage'] === 'number' ? { maxCloudCoveragePercent: params['cloudCoverage'] } : {}),
    }
    const request = { method: 'POST' as const, path: '/feasibility', body, isRepeatable: true, ...options }
    const answer = await requireAnswer(this.#host, schemas.feasibility, request, 'study')
    return this.#studyOf({ id: answer.id, provider: requiredProvider, reference, cents: costOf(rate, area) }, answer)
  }

  async study(studyId: string, options: CallOptions): Promise<Study> {
    const asked = JSON.parse(studyId) as Asked
    const request = { path: `/feasibility/${encodeURIComponent(asked.id)}`, ...options }
    return this.#studyOf(asked, await requireAnswer(this.#host, schemas.feasibility, request, 'study'))
  }

  #studyOf(asked: Asked, { overallScore, validUntil }: Feasibility): Study {
    const answer = { id: JSON.stringify(asked), reference: asked.reference, reason: null, options: [] }
    const ours = overallScore?.providerScore?.providerScores?.find(({ provider }) => provider === asked.provider)
    const isDone = ours !== undefined && (ours.status == null || ours.status === 'COMPLETE' || ours.status === 'ERROR')
    if (!isDone && Date.parse(validUntil) > this.#clock.now().getTime()) return { ...answer, status: 'waiting' }
    if (!isDone || ours.status === 'ERROR')
      return { ...answer, status: 'infeasible', reason: `SkyFi could not find out whether ${asked.provider} can take this image` }
    const passes = (ours.opportunities ?? []).toSorted((a, b) => Date.parse(a.windowStart) - Date.parse(b.windowStart))
    if (passes.length === 0) return { ...answer, status: 'infeasible', reason: `${asked.provider} has no pass as requested in this window` }
    const options = passes.slice(0, MAX_OPTIONS).map(({ windowStart, windowEnd, satelliteId, providerWindowId }) => {
      const [start, end] = [windowStart, windowEnd].map((time) => new Date(time).toISOString()) as [string, string]
      return {
        id: [start, end, providerWindowId ?? ''].join(SEPARATOR),
        description: `${asked.provider}${satelliteId ? `, satellite ${satelliteId}` : ''}`,
        cents: asked.cents,
        acquisitionStart: start,
        acquisitionEnd: end,
        maxCloudCover: null,
        maxOffNadirDeg: null,
      }
    })
    return { ...answer, status: 'answered', options }
  }

  /** The fields of an order that say which image is wanted, and what it costs now. */
  async wanted(request: VendorOrderRequest, options: CallOptions): Promise<{ body: object; cents: number }> {
    const { productId, area, params = {}, studyOptionId } = request
    const [windowStart, windowEnd, providerWindowId] = studyOptionId?.split(SEPARATOR) ?? []
    if (!area || !windowStart || !windowEnd) throw this.#error('refused', 'takes only a pass of a study')
    const [sold, ring] = [this.#soldAs(productId), this.#ring(area)]
    const { provider: requiredProvider, productType, resolution } = sold
    const { from, to } = this.#predictable({ from: new Date(windowStart), to: new Date(windowEnd) })
    const week = { from, to: new Date(Math.max(to.getTime(), from.getTime() + PRICE_DAYS * DAY_MS)) }
    const cents = costOf(await this.#rate(sold, ring, { ...week, params }, options), area)
    const body = {
      aoi: polygonWkt([ring]),
      windowStart,
      windowEnd,
      productType,
      resolution,
      requiredProvider,
      ...(providerWindowId ? { providerWindowId } : {}),
      ...(typeof params['cloudCoverage'] === 'number' ? { maxCloudCoveragePercent: params['cloudCoverage'] } : {}),
      ...(typeof params['maxOffNadirAngle'] === 'number' ? { maxOffNadirAngle: params['maxOffNadirAngle'] } : {}),
      ...(productType === 'SAR' ? { sarProductTypes: ['GEC'] } : {}),
    }
    return { body, cents }
  }

  async opportunities({ productId, area, from, to, maxOffNadirDeg, limit }: OpportunitySearch, options: CallOptions) {
    if (area.type === 'Point') throw this.#error('refused', CONVEX)
    const sold = this.#soldAs(productId)
    const params = maxOffNadirDeg === undefined ? {} : { maxOffNadirAngle: maxOffNadirDeg }
    const passes = await this.#passes(sold, this.#ring(area), { from, to, params }, options)
    return passes
      .toSorted((a, b) => Date.parse(a.passDate) - Date.parse(b.passDate))
      .slice(0, limit)
      .map(toOpportunity)
  }

  /** The dearest of the passes in a window, so that none costs more than was shown. */
  async #rate(sold: Sold, ring: Position[], query: Window & { params: Params }, options: CallOptions): Promise<Rate> {
    const passes = await this.#passes(sold, ring, query, options)
    if (passes.length === 0)
      throw this.#error('refused', `predicts no pass of ${sold.provider} over this area in this window: choose another window`)
    const rate = {
      centsPerSqKm: Math.max(...passes.map(centsOf)),
      minimumSqKm: Math.max(...passes.map(({ minSquareKms }) => minSquareKms)),
      maximumSqKm: Math.min(...passes.map(({ maxSquareKms }) => maxSquareKms)),
    }
    const km2 = sqKmOf({ type: 'Polygon', coordinates: [ring] })
    if (rate.maximumSqKm > 0 && km2 > rate.maximumSqKm)
      throw this.#error('refused', `takes at most ${rate.maximumSqKm} km² in one image; the area covers ${km2.toFixed(1)} km²`)
    return rate
  }

  async #passes(sold: Sold, ring: Position[], { params, ...window }: Window & { params: Params }, options: CallOptions) {
    const { from, to } = this.#predictable(window)
    if (from >= to) throw this.#error('refused', 'predicts passes from 24 hours ahead on: choose a later window')
    const body = {
      aoi: polygonWkt([ring]),
      fromDate: from.toISOString(),
      toDate: to.toISOString(),
      productTypes: [sold.productType],
      resolutions: [sold.resolution],
      maxOffNadirAngle: typeof params['maxOffNadirAngle'] === 'number' ? params['maxOffNadirAngle'] : DEFAULT_ANGLE,
    }
    const request = { method: 'POST' as const, path: '/feasibility/pass-prediction', body, isRepeatable: true, ...options }
    const answer = await ask(this.#host, schemas.passes, request, 'list of passes')
    if (!answer) throw this.#error('invalid-response', 'has no list of passes')
    const { provider, productType, resolution } = sold
    return answer.passes.filter((pass) => pass.provider === provider && pass.productType === productType && pass.resolution === resolution)
  }

  #predictable({ from, to }: Window): Window {
    return { from: new Date(Math.max(from.getTime(), this.#clock.now().getTime() + AHEAD_MS)), to }
  }

  #soldAs(productId: string): Sold {
    const product = this.#products.find(({ id, type }) => id === productId && type === 'TASKING')
    const sold = product && soldAs(product)
    if (sold) return sold
    throw this.#error('refused', 'does not sell this product')
  }

  #ring(area: AreaGeometry): Position[] {
    const ring = convexRing(area)
    if (ring && ring.length <= MAX_VERTICES) return ring
    throw this.#error('refused', CONVEX)
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

/** The ID of an option says which pass it is; not every provider has IDs of its own. */
const SEPARATOR = '|'

function soldAs({ vendorProduct }: Product): Sold | null {
  const [provider, productType, resolution] = vendorProduct?.split('/') ?? []
  return provider && productType && resolution ? { provider, productType, resolution } : null
}

const windowOf = (params: Params): Window => ({
  from: new Date(String(params['acquisitionStart'])),
  to: new Date(String(params['acquisitionEnd'])),
})

const centsOf = ({ priceForOneSquareKmCents: cents, priceForOneSquareKm: dollars }: Pass): number => cents ?? Math.ceil(dollars * 100)

const costOf = ({ centsPerSqKm, minimumSqKm }: Rate, area: AreaGeometry): number =>
  Math.ceil(Math.max(sqKmOf(area), minimumSqKm) * centsPerSqKm)

function toOpportunity(pass: Pass): Opportunity {
  const at = new Date(pass.passDate).toISOString()
  return {
    satellite: pass.satname,
    noradId: /^[1-9]\d{0,8}$/.test(pass.noradid) ? Number(pass.noradid) : null,
    start: at,
    end: at,
    offNadirDeg: Math.abs(pass.offNadirAngle),
    sunElevationDeg: pass.productType === 'SAR' ? null : pass.solarElevationAngle,
  }
}
