/**
 * Tasking at a server of the STAPI standard. It has no prices, so that products have a rate card in the registry; it has no reference
 * of the customer, so that we look for an order with our window before we place one; it has no cancellation, except for servers that
 * link to one.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { HOUR_MS } from '#core/time.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import type { PriceRequest, PriceResult, VendorOrder, VendorOrderRequest, VendorShop } from '#ports/vendors/shop.ts'
import type { Product } from '#ports/vendors/source.ts'
import type { Opportunity, OpportunitySearch, TaskingRequest } from '#ports/vendors/tasking.ts'
import type { AccountCheck } from '#ports/vendors/vendors.ts'
import type { Host, HostRequest } from '#adapters/vendors/host.ts'
import { filesOf, type LinkedFile } from './delivery.ts'
import { filterOf, geometryFor, intervalOf, orderParametersOf, recognize, windowOf, type Wanted } from './request.ts'
import { standingOf } from './states.ts'
import { ask, linkOf, ownUrl, schemas, type Link, type Order, type Pass } from './wire.ts'

const PAGE_SIZE = 100
/** The standard does not sort orders: beyond so many pages we cannot know whether ours is among them, and do not place it. */
const MAX_LOOK_PAGES = 50
const MAX_PASS_PAGES = 20
/** An asynchronous search is asked for so often, within the deadline of the call. */
const SEARCH_POLLS = 10
const SEARCH_PAUSE_MS = 1_000
const PRODUCTS_MS = 24 * HOUR_MS
const MAX_PRODUCTS = 500
const CANCEL_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

interface ShopParts {
  readonly products: readonly Product[]
  readonly downloadHosts: readonly string[]
  /** Whether an organization's own contract pays, so that our rate card does not apply. */
  readonly isOwnAccount: boolean
}

export const createStapiShop = (host: Host, parts: ShopParts): VendorShop => new StapiShop(host, parts)

interface Prepared {
  readonly product: string
  readonly geometry: TaskingRequest['area']
}

class StapiShop implements VendorShop {
  readonly #host: Host
  readonly #parts: ShopParts
  readonly #conformance = new LRUCache<string, readonly string[]>({ max: MAX_PRODUCTS, ttl: PRODUCTS_MS })

  constructor(host: Host, parts: ShopParts) {
    this.#host = host
    this.#parts = parts
  }

  async price(captures: readonly PriceRequest[]): Promise<readonly PriceResult[]> {
    return captures.map(({ sceneId, productId, geometry }) => {
      const product = this.#parts.products.find(({ id }) => id === productId)
      if (sceneId !== undefined || !product) return { ok: false, reason: `${this.#host.name} sells new images only` }
      return {
        ok: true,
        productId: product.id,
        price: product.rateCard === null || this.#parts.isOwnAccount ? { basis: 'contract' } : product.rateCard,
        resolutionClass: `${product.gsdM} m`,
        geometry,
        acquiredAt: null,
      }
    })
  }

  async placeOrder(request: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder> {
    const wanted = await this.#wanted(request, options)
    // The look reads all orders of the account, so that it is left out where there can be nothing to find.
    const found = request.isFirstAttempt ? null : await this.#find(wanted, options)
    if (found) return await this.#toOrder(found, options)
    const params = request.params ?? {}
    const filter = filterOf(params)
    const body = {
      datetime: intervalOf(wanted.window),
      geometry: wanted.geometry,
      ...(filter === null ? {} : { filter }),
      order_parameters: orderParametersOf(params),
    }
    const path = `/products/${encodeURIComponent(wanted.product)}/orders`
    const order = await ask(this.#host, schemas.order, { method: 'POST', path, body, ...options }, 'order')
    if (order === null) throw this.#error('refused', `does not offer the product '${wanted.product}'`)
    // A server can answer with the order's URL alone.
    const placed = order ?? (await this.#find(wanted, options))
    if (!placed) throw this.#error('unavailable', 'confirmed an order that it does not list yet')
    if (recognize(placed, wanted) === 'other') throw this.#error('invalid-response', 'confirmed another order than requested')
    return await this.#toOrder(placed, options)
  }

  async findOrder(request: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder | null> {
    const found = await this.#find(await this.#wanted(request, options), options)
    return found && (await this.#toOrder(found, options))
  }

  async #wanted({ productId, area, params = {}, reference, createdAt }: VendorOrderRequest, options: CallOptions): Promise<Wanted> {
    if (!area) throw this.#error('refused', 'sells new images only')
    const window = windowOf(params, reference)
    if (!window) throw this.#error('refused', 'needs acquisitionStart and acquisitionEnd')
    return { ...(await this.#prepare(productId, area, options)), window, createdAt }
  }

  async #find(wanted: Wanted, options: CallOptions): Promise<Order | null> {
    let request: HostRequest | null = { path: `/orders?limit=${PAGE_SIZE}` }
    let isUnclear = false
    for (let page = 0; request; page++) {
      if (page >= MAX_LOOK_PAGES)
        throw this.#error('unavailable', `has more than ${MAX_LOOK_PAGES} pages of orders, so ours cannot be looked for`)
      const list: { features: Order[]; links?: Link[] } | null | undefined = await ask(
        this.#host,
        schemas.orders,
        { ...request, ...options },
        'list of orders',
      )
      if (!list) throw this.#error('invalid-response', 'has no list of orders')
      for (const order of list.features) {
        const likeness = recognize(order, wanted)
        if (likeness === 'ours') return order
        isUnclear ||= likeness === 'unclear'
      }
      request = this.#next(list.links)
    }
    if (isUnclear)
      throw this.#error('refused', 'has an order of the same product, area and window, and it cannot be told whether it is this one')
    return null
  }

  /** The request for the next page; null on the last one. */
  #next(links: readonly Link[] | undefined): HostRequest | null {
    const next = linkOf(links, 'next')
    if (!next) return null
    const path = ownUrl(this.#host, next.href)
    return next.method === 'POST' ? { method: 'POST', path, body: next.body ?? {}, isRepeatable: true } : { path }
  }

  async order(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    return await this.#toOrder(await this.#order(id, options), options)
  }

  async #order(id: string, options: CallOptions): Promise<Order> {
    const order = await ask(this.#host, schemas.order, { path: `/orders/${encodeURIComponent(id)}`, ...options }, 'order')
    if (!order) throw this.#error('not-found', 'has no such order')
    if (order.id !== id) throw this.#error('invalid-response', 'returned another object than requested')
    return order
  }

  async cancelOrder(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    const order = await this.#order(id, options)
    if (order.properties.status.status_code === 'user_cancelled') return await this.#toOrder(order, options)
    const link = linkOf(order.links, 'cancel') ?? linkOf(order.properties.status.links, 'cancel')
    const method = CANCEL_METHODS.find((each) => each === (link?.method ?? 'POST'))
    if (!link || !method) throw this.#error('refused', 'does not cancel this order')
    const body = method === 'DELETE' ? {} : { body: link.body ?? {} }
    await this.#host.json({ method, path: ownUrl(this.#host, link.href), ...body, isRepeatable: true, ...options })
    const cancelled = await this.order(id, options)
    if (cancelled.status !== 'cancelled') throw this.#error('refused', 'did not cancel the order')
    return cancelled
  }

  /** Links are read anew, because they can have expired. */
  async *download(
    id: string,
    fileId: string,
    options: { readonly offset?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Uint8Array> {
    const { signal, offset } = options
    const files = await this.#files(await this.#order(id, signal ? { signal } : {}), signal ? { signal } : {})
    const file = files.find((each) => each.id === fileId)
    if (!file) throw this.#error('not-found', 'has no such file')
    yield* this.#host.stream({ path: file.href, ...(signal ? { signal } : {}), ...(offset === undefined ? {} : { offset }) })
  }

  requestStudy(): Promise<never> {
    return this.#unstudied()
  }

  study(): Promise<never> {
    return this.#unstudied()
  }

  requestQuotation(): Promise<never> {
    return this.#unstudied()
  }

  quotation(): Promise<never> {
    return this.#unstudied()
  }

  async #unstudied(): Promise<never> {
    throw this.#error('refused', 'has neither studies nor quotations: its products must have no steps in the registry')
  }

  async opportunities(query: OpportunitySearch, options: CallOptions = {}): Promise<readonly Opportunity[]> {
    const { productId, area, from, to, maxOffNadirDeg, limit } = query
    const { product, geometry } = await this.#prepare(productId, area, options)
    const filter = filterOf(maxOffNadirDeg === undefined ? {} : { maxOffNadirAngle: maxOffNadirDeg })
    const body = {
      datetime: intervalOf({ from, to }),
      geometry,
      ...(filter === null ? {} : { filter }),
      limit: Math.min(limit, PAGE_SIZE),
    }
    const path = `/products/${encodeURIComponent(product)}/opportunities`
    const passes: Pass[] = []
    let request: HostRequest | null = { method: 'POST', path, body, headers: { prefer: 'wait' }, isRepeatable: true }
    for (let page = 0; request && page < MAX_PASS_PAGES && passes.length < limit; page++) {
      const list: { features: Pass[]; links?: Link[] } = await this.#passes(request, options)
      passes.push(...list.features)
      request = this.#next(list.links)
    }
    return passes
      .slice(0, limit)
      .map(toOpportunity)
      .toSorted((a, b) => a.start.localeCompare(b.start))
  }

  /** A server that only searches asynchronously returns a record, which says where the result will be. */
  async #passes(request: HostRequest, options: CallOptions): Promise<{ features: Pass[]; links?: Link[] }> {
    let response = await this.#host.json({ ...request, ...options })
    for (let poll = 0; schemas.search.Check(response); poll++) {
      const { id, links, status } = response
      const result = linkOf(links, 'opportunities')
      if (['failed', 'cancelled'].includes(status.status_code))
        throw this.#error('refused', `could not search: ${status.reason_text ?? status.status_code}`)
      if (poll >= SEARCH_POLLS) throw this.#error('timeout', 'did not complete its search in time')
      if (poll > 0 && !result) await pause(SEARCH_PAUSE_MS, undefined, options.signal ? { signal: options.signal } : {})
      const path = result ? ownUrl(this.#host, result.href) : `/searches/opportunities/${encodeURIComponent(id)}`
      response = await this.#host.json({ path, ...options })
    }
    if (response === null) throw this.#error('refused', 'does not search opportunities of this product')
    if (!schemas.passes.Check(response)) throw this.#error('invalid-response', 'returned an invalid list of opportunities')
    return response
  }

  /** The product's ID at the server, and the area in a form that it accepts. */
  async #prepare(productId: string, area: TaskingRequest['area'], options: CallOptions): Promise<Prepared> {
    const product = this.#parts.products.find(({ id }) => id === productId)
    if (!product) throw this.#error('refused', 'does not offer this product')
    const id = product.vendorProduct ?? product.name
    const geometry = geometryFor(area, await this.#conformsTo(id, options))
    if (!geometry) throw this.#error('refused', `does not accept a ${area.type} for '${product.name}'; order its parts one by one`)
    return { product: id, geometry }
  }

  async #conformsTo(id: string, options: CallOptions): Promise<readonly string[]> {
    const known = this.#conformance.get(id)
    if (known) return known
    const product = await ask(this.#host, schemas.product, { path: `/products/${encodeURIComponent(id)}`, ...options }, 'product')
    if (!product) throw this.#error('refused', `does not offer the product '${id}'`)
    this.#conformance.set(id, product.conformsTo ?? [])
    return product.conformsTo ?? []
  }

  #files(order: Order, options: CallOptions): Promise<LinkedFile[]> {
    return filesOf(order, { host: this.#host, downloadHosts: this.#parts.downloadHosts, options })
  }

  async #toOrder(order: Order, options: CallOptions): Promise<VendorOrder> {
    const { status_code: code, reason_text: text, reason_code: reasonCode } = order.properties.status
    const files = code === 'completed' ? await this.#files(order, options) : []
    const { status, unknownStatus } = standingOf(
      code,
      files.some(({ role }) => role === 'data'),
    )
    return {
      id: order.id,
      reference: '',
      status,
      reason: status === 'failed' ? (text ?? reasonCode ?? `${this.#host.name} reports '${code}'`) : null,
      captures: [],
      files: status === 'delivered' ? files.map(({ href: _href, ...file }) => file) : [],
      chargedCents: null,
      chargedSqKm: null,
      unknownStatus,
    }
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

function toOpportunity({ properties }: Pass): Opportunity {
  const [start, end] = properties.datetime.split('/') as [string, string]
  return {
    satellite: properties.platform ?? null,
    noradId: null,
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    offNadirDeg: properties['view:off_nadir'] ?? null,
    sunElevationDeg: properties['view:sun_elevation'] ?? null,
  }
}

/** Orders need an account; of the products, those are named that the server does not offer. */
export async function checkStapiAccount(host: Host, products: readonly Product[], options: CallOptions): Promise<AccountCheck> {
  const invalid = (what: string) => new VendorError('invalid-response', host.name, `${host.name} ${what}`)
  if (!(await ask(host, schemas.orders, { path: '/orders?limit=1', ...options }, 'list of orders'))) throw invalid('has no list of orders')
  const missing: string[] = []
  for (const { name, vendorProduct } of products) {
    const path = `/products/${encodeURIComponent(vendorProduct ?? name)}`
    if (!(await ask(host, schemas.product, { path, ...options }, 'product'))) missing.push(name)
  }
  return { detail: missing.length === 0 ? null : `Not offered to this account: ${missing.join(', ')}` }
}
