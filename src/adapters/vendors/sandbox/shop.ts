/** A host that sells, in the sandbox protocol of docs/adr/0022-vendors.md. Every response is validated. */
import Type, { type Static, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Choice, FreeForm, Nullable, Timestamp } from '#core/shapes.ts'
import { VendorError, type CallOptions, type VendorErrorCode } from '#ports/vendors/call.ts'
import {
  FILE_ROLES,
  type DeliveredFile,
  type PriceResult,
  type PriceRequest,
  type VendorOrder,
  type VendorOrderRequest,
  type VendorShop,
} from '#ports/vendors/shop.ts'
import type { Product, Source } from '#ports/vendors/source.ts'
import type { Opportunity, OpportunitySearch, Quotation, QuotationRequest, Study, TaskingRequest } from '#ports/vendors/tasking.ts'
import type { Host, HostRequest } from '#adapters/vendors/host.ts'
import { areaFrom } from '#adapters/vendors/shapes.ts'

const Area = Type.Object({ type: Choice(['Polygon', 'MultiPolygon']), coordinates: Type.Array(Type.Unknown()) })
const Id = Type.String({ minLength: 1, maxLength: 200 })
const AssetKey = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' })
const Cents = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Reason = Nullable(Type.String({ maxLength: 2_000 }))

const Price = Type.Object({
  product: Id,
  cents_per_sqkm: Type.Number({ minimum: 0, maximum: 1e9 }),
  minimum_sqkm: Type.Number({ minimum: 0 }),
  resolution_class: Type.String({ maxLength: 100 }),
  geometry: Area,
  acquired_at: Nullable(Timestamp),
})
const priced = Compile(Type.Object({ prices: Type.Array(Type.Union([Price, Type.Object({ error: Type.String({ maxLength: 2_000 }) })])) }))

const Order = Type.Object({
  id: Id,
  reference: Id,
  status: Choice(['placed', 'accepted', 'delivered', 'part', 'failed', 'cancelled']),
  reason: Reason,
  captures: Type.Array(Type.Object({ scene_id: Id, status: Choice(['waiting', 'delivered', 'failed']), reason: Reason })),
  files: Type.Array(
    Type.Object({
      id: Id,
      file_name: Id,
      scene_id: Id,
      item_key: Type.Optional(Id),
      asset_key: Type.Optional(AssetKey),
      role: Type.Optional(Choice(FILE_ROLES)),
      media_type: Type.String({ maxLength: 200 }),
      bytes: Nullable(Type.Integer({ minimum: 0 })),
      sha256: Type.Optional(Nullable(Type.String({ pattern: '^[0-9a-f]{64}$' }))),
      md5: Type.Optional(Nullable(Type.String({ pattern: '^[0-9a-f]{32}$' }))),
      datetime: Nullable(Timestamp),
      cloud_cover: Nullable(Type.Number({ minimum: 0, maximum: 100 })),
      bands: Type.Array(Type.Object({ name: Type.String(), role: Nullable(Type.String()) })),
      properties: FreeForm,
    }),
    { maxItems: 10_000 },
  ),
})
const order = Compile(Order)
const orders = Compile(Type.Object({ orders: Type.Array(Order, { maxItems: 1 }) }))

const StudyBody = Type.Object({
  id: Id,
  reference: Id,
  status: Choice(['waiting', 'answered', 'infeasible']),
  reason: Reason,
  options: Type.Array(
    Type.Object({
      id: Id,
      description: Type.String({ maxLength: 2_000 }),
      cents: Nullable(Cents),
      acquisition_start: Nullable(Timestamp),
      acquisition_end: Nullable(Timestamp),
      max_cloud_cover: Nullable(Type.Number()),
      max_off_nadir_deg: Nullable(Type.Number()),
    }),
    { maxItems: 100 },
  ),
})
const study = Compile(StudyBody)

const QuotationBody = Type.Object({
  id: Id,
  reference: Id,
  status: Choice(['waiting', 'issued', 'refused']),
  reason: Reason,
  cents: Nullable(Cents),
})
const quotation = Compile(QuotationBody)

const passes = Compile(
  Type.Object({
    opportunities: Type.Array(
      Type.Object({
        satellite: Nullable(Type.String()),
        norad_id: Nullable(Type.Integer()),
        start: Timestamp,
        end: Timestamp,
        off_nadir_deg: Nullable(Type.Number()),
        sun_elevation_deg: Nullable(Type.Number()),
      }),
      { maxItems: 10_000 },
    ),
  }),
)

export const createSandboxShop = (host: Host, source: Source, products: readonly Product[]): VendorShop =>
  new SandboxShop(host, source, products)

/** Its vendors return the first response for a repeated reference, so that every request can be repeated. */
class SandboxShop implements VendorShop {
  readonly #host: Host
  readonly #products: readonly Product[]

  constructor(host: Host, source: Source, products: readonly Product[]) {
    this.#host = host
    this.#products = products.filter((product) => product.hostName === source.hostName)
  }

  async price(captures: readonly PriceRequest[], options: CallOptions = {}): Promise<readonly PriceResult[]> {
    const items = captures.map(({ sceneId, productId, geometry, params }) => ({
      ...(sceneId === undefined ? {} : { scene_id: sceneId }),
      ...(productId === undefined ? {} : { product: this.#nameOf(productId) }),
      geometry,
      ...(params === undefined ? {} : { params }),
    }))
    const { prices } = await this.#ask(priced, { ...post('/prices', { items }), ...options }, 'price')
    if (prices.length !== captures.length) throw this.#error('invalid-response', `priced ${prices.length} of ${captures.length} captures`)
    return prices.map((price) => ('error' in price ? { ok: false, reason: price.error } : this.#toPrice(price)))
  }

  async placeOrder(request: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder> {
    const body = {
      reference: request.reference,
      product: this.#nameOf(request.productId),
      license_type: request.licenseType,
      ...(request.captures ? { captures: request.captures.map(({ sceneId, geometry }) => ({ scene_id: sceneId, geometry })) } : {}),
      ...(request.area ? { area: request.area, params: request.params ?? {} } : {}),
      ...(request.studyOptionId ? { study_option_id: request.studyOptionId } : {}),
      ...(request.quotationId ? { quotation_id: request.quotationId } : {}),
      ...(request.callbackUrl ? { callback_url: request.callbackUrl } : {}),
    }
    return toOrder(this.#same(await this.#ask(order, { ...post('/orders', body), ...options }, 'order'), { reference: request.reference }))
  }

  async findOrder({ reference }: VendorOrderRequest, options: CallOptions = {}): Promise<VendorOrder | null> {
    const path = `/orders?reference=${encodeURIComponent(reference)}`
    const [found] = (await this.#ask(orders, { path, ...options }, 'list of orders')).orders
    return found ? toOrder(this.#same(found, { reference })) : null
  }

  async order(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    return toOrder(this.#same(await this.#ask(order, { path: at('orders', id), ...options }, 'order'), { id }))
  }

  async cancelOrder(id: string, options: CallOptions = {}): Promise<VendorOrder> {
    return toOrder(this.#same(await this.#ask(order, { ...post(`${at('orders', id)}/cancel`, {}), ...options }, 'order'), { id }))
  }

  download(
    id: string,
    fileId: string,
    options: { readonly offset?: number; readonly signal?: AbortSignal } = {},
  ): AsyncIterable<Uint8Array> {
    return this.#host.stream({ path: `${at('orders', id)}${at('files', fileId)}`, ...options })
  }

  async requestStudy(request: TaskingRequest, options: CallOptions = {}): Promise<Study> {
    const answer = await this.#ask(study, { ...post('/studies', this.#tasking(request)), ...options }, 'study')
    return toStudy(this.#same(answer, { reference: request.reference }))
  }

  async study(id: string, options: CallOptions = {}): Promise<Study> {
    return toStudy(this.#same(await this.#ask(study, { path: at('studies', id), ...options }, 'study'), { id }))
  }

  async requestQuotation({ studyOptionId, ...request }: QuotationRequest, options: CallOptions = {}): Promise<Quotation> {
    const body = { ...this.#tasking(request), ...(studyOptionId ? { study_option_id: studyOptionId } : {}) }
    const answer = await this.#ask(quotation, { ...post('/quotations', body), ...options }, 'quotation')
    return toQuotation(this.#same(answer, { reference: request.reference }))
  }

  async quotation(id: string, options: CallOptions = {}): Promise<Quotation> {
    return toQuotation(this.#same(await this.#ask(quotation, { path: at('quotations', id), ...options }, 'quotation'), { id }))
  }

  async opportunities(query: OpportunitySearch, options: CallOptions = {}): Promise<readonly Opportunity[]> {
    const { productId, area, from, to, maxOffNadirDeg, limit } = query
    const angle = maxOffNadirDeg === undefined ? {} : { max_off_nadir_deg: maxOffNadirDeg }
    const body = { product: this.#nameOf(productId), area, from, to, limit, ...angle }
    const list = await this.#ask(passes, { ...post('/opportunities', body), ...options }, 'list of passes')
    return list.opportunities.map(({ norad_id, off_nadir_deg, sun_elevation_deg, satellite, start, end }) => ({
      satellite,
      start,
      end,
      noradId: norad_id,
      offNadirDeg: off_nadir_deg,
      sunElevationDeg: sun_elevation_deg,
    }))
  }

  async #ask<T extends TSchema>(schema: Validator<Record<never, never>, T>, request: HostRequest, what: string): Promise<Static<T>> {
    const response = await this.#host.json(request)
    if (response === null) throw this.#error('not-found', `has no such ${what}`)
    if (!schema.Check(response)) throw this.#error('invalid-response', `returned an invalid ${what}`)
    return response as Static<T>
  }

  /** A response about another object is rejected. */
  #same<T extends { id: string; reference: string }>(answer: T, expected: { id: string } | { reference: string }): T {
    const isSame = 'id' in expected ? answer.id === expected.id : answer.reference === expected.reference
    if (!isSame) throw this.#error('invalid-response', 'returned another object than requested')
    return answer
  }

  #nameOf(id: string): string {
    const product = this.#products.find((candidate) => candidate.id === id)
    if (!product) throw this.#error('refused', 'does not sell this product')
    return product.name
  }

  #toPrice(price: Static<typeof Price>): PriceResult {
    const product = this.#products.find(({ name }) => name === price.product)
    if (!product) throw this.#error('invalid-response', `returned the unknown product '${price.product.slice(0, 100)}'`)
    const geometry = areaFrom(price.geometry)
    if (!geometry) return { ok: false, reason: `${this.#host.name} returned an invalid geometry for this scene` }
    return {
      ok: true,
      productId: product.id,
      price: { basis: 'area', centsPerSqKm: price.cents_per_sqkm, minimumSqKm: price.minimum_sqkm },
      resolutionClass: price.resolution_class,
      geometry,
      acquiredAt: price.acquired_at,
    }
  }

  #tasking({ reference, productId, area, params }: TaskingRequest): object {
    return { reference, product: this.#nameOf(productId), area, params }
  }

  #error(code: VendorErrorCode, what: string): VendorError {
    return new VendorError(code, this.#host.name, `${this.#host.name} ${what}`)
  }
}

const post = (path: string, body: object): Pick<HostRequest, 'method' | 'path' | 'body' | 'isRepeatable'> => ({
  method: 'POST',
  path,
  body,
  isRepeatable: true,
})
const at = (folder: string, id: string): string => `/${folder}/${encodeURIComponent(id)}`

function toOrder({ id, reference, status, reason, captures, files }: Static<typeof Order>): VendorOrder {
  return {
    id,
    reference,
    status,
    reason,
    captures: captures.map(({ scene_id, ...capture }) => ({ sceneId: scene_id, status: capture.status, reason: capture.reason })),
    files: files.map((file): DeliveredFile => ({
      id: file.id,
      fileName: file.file_name,
      sceneId: file.scene_id,
      itemKey: file.item_key ?? file.id,
      assetKey: file.asset_key ?? 'data',
      role: file.role ?? 'data',
      mediaType: file.media_type,
      bytes: file.bytes,
      sha256: file.sha256 ?? null,
      md5: file.md5 ?? null,
      datetime: file.datetime,
      cloudCover: file.cloud_cover,
      bands: file.bands,
      properties: file.properties,
    })),
    chargedCents: null,
    chargedSqKm: null,
    unknownStatus: null,
  }
}

function toStudy({ id, reference, status, reason, options }: Static<typeof StudyBody>): Study {
  return {
    id,
    reference,
    status,
    reason,
    options: options.map((option) => ({
      id: option.id,
      description: option.description,
      cents: option.cents,
      acquisitionStart: option.acquisition_start,
      acquisitionEnd: option.acquisition_end,
      maxCloudCover: option.max_cloud_cover,
      maxOffNadirDeg: option.max_off_nadir_deg,
    })),
  }
}

function toQuotation({ id, reference, status, reason, cents }: Static<typeof QuotationBody>): Quotation {
  return { id, reference, status, reason, cents }
}
