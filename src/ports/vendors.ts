/**
 * Imagery vendors: a registry of sources, and a client for each host. Open hosts can be searched; commercial hosts also sell.
 * `adapters/vendors` implements them; see docs/adr/0022-vendors.md.
 */
import type { AreaGeometry, Geometry } from '#core/geometry.ts'

export interface Vendors {
  /** Enabled sources, in the order of the registry. */
  readonly sources: readonly Source[]
  readonly products: readonly Product[]
  readonly licences: readonly Licence[]
  readonly providers: readonly Provider[]
  /** Null if no enabled source has this name. */
  source(hostName: string): Source | null
  /** By ID or name; null if no vendor sells it. */
  product(idOrName: string): Product | null
  licence(id: string): Licence | null
  /**
   * The catalogue of a host, open or commercial, with the account of the installation or of an organization. Throws if `source` does not
   * know the name.
   */
  catalog(hostName: string, accountId?: string | null): VendorCatalog
  /** One scene; null if the host does not have it. Cached, because a map requests many tiles of the same scene. */
  scene(hostName: string, collectionId: string, id: string): Promise<Scene | null>
  readonly files: FileUrls
  /** A file of an open scene, from an offset; `refused` unless its host is registered. Throws if the transfer ends early. */
  download(url: string, options: { readonly offset?: number; readonly signal: AbortSignal }): Promise<FileDownload>
  /** The ordering API of a commercial host, with the account that pays; null for open data. */
  shop(hostName: string, accountId?: string | null): VendorShop | null
  /** What the vendor says about an account. Throws `unauthorized` if it does not accept the secret. */
  checkAccount(hostName: string, secret: AccountSecret, options?: CallOptions): Promise<AccountCheck>
  close(): Promise<void>
}

/** The parts of a credential that an account needs at a host. */
export const SECRET_FIELDS = ['key', 'user', 'password', 'client_id', 'client_secret'] as const
export type SecretField = (typeof SECRET_FIELDS)[number]
export type AccountSecret = Readonly<Partial<Record<SecretField, string>>>

export interface AccountCheck {
  /** Shown to the account's owner: whose account it is, and what is missing before it can order. Null if there is nothing to say. */
  readonly detail: string | null
}

/** Whose account pays the vendor: the operator, who resells, or the organization itself. */
export const ACCOUNT_OWNERS = ['installation', 'organization'] as const
type AccountOwner = (typeof ACCOUNT_OWNERS)[number]

export const PROTOCOLS = ['stac', 'sandbox', 'skyfi', 'planet', 'up42', 'umbra', 'stapi'] as const
type Protocol = (typeof PROTOCOLS)[number]

export const DATA_TYPES = ['raster', 'dem', 'pointcloud', 'altimetry', 'vector'] as const
type DataType = (typeof DATA_TYPES)[number]

/** `cog`: tiles are rendered from the scene's files; `preview`: only a preview image exists; `points`; `none`. */
export const RENDER_STRATEGIES = ['cog', 'preview', 'points', 'none'] as const
type RenderStrategy = (typeof RENDER_STRATEGIES)[number]

/**
 * How stored values become physical ones. `stac`: by the scale and offset that each scene states; `s2-baseline`: Sentinel-2
 * without a stated offset, where 1,000 is subtracted from processing baseline 04.00 on; `none`: they are physical already.
 */
export const SCALES = ['stac', 's2-baseline', 'none'] as const
type Scale = (typeof SCALES)[number]

type Bbox = readonly [west: number, south: number, east: number, north: number]

/** How imagery can be used, and who must be named. */
export interface Terms {
  /** `{year}` stands for the year of acquisition. */
  readonly attribution: string
  /** An SPDX identifier, or the name of the terms. */
  readonly license: string
  /** Where the terms can be read; null if unknown. */
  readonly licenseUrl: string | null
}

export interface Source extends Terms {
  readonly id: string
  readonly title: string
  readonly description: string
  /** The `host_name` that `catalog.search` takes. */
  readonly hostName: string
  readonly protocol: Protocol
  readonly accessModel: 'open' | 'commercial'
  readonly scope: 'global' | 'regional' | 'national'
  /** ISO 3166 codes, for national and regional sources. */
  readonly countries: readonly string[]
  /** Bounding boxes that it covers; empty for the whole Earth. */
  readonly coverage: readonly Bbox[]
  /** Name of the provider that runs the host. */
  readonly provider: string
  readonly renderStrategy: RenderStrategy
  readonly collections: readonly SourceCollection[]
  /** Its scenes are simulated, so no real money may be charged for them. */
  readonly simulated: boolean
  /** Percentage added to the vendor's price. */
  readonly markupPercent: number
  /** Whose accounts can be used here. */
  readonly accounts: readonly AccountOwner[]
  /** Whether the operator has an account, or none is needed. */
  readonly hasInstallationAccount: boolean
  /** The parts of the secret of an account; empty if no account can be connected. */
  readonly secretFields: readonly SecretField[]
  /** ISO 4217 code of the vendor's prices. */
  readonly currency: string
  /** How its currency is converted; null if there is no rate, so that nothing can be sold in ours. */
  readonly exchange: ExchangeRate | null
  /** `union`: where captures of an order overlap, the area is charged once; `each`: every capture is charged. */
  readonly billing: 'union' | 'each'
  /** Maximum number of captures in one order at the vendor. */
  readonly capturesPerOrder: number
  /** Whether the vendor cuts all captures of an order to one area, so that captures of different areas are different orders. */
  readonly hasOneAreaPerOrder: boolean
  /** How often an order is polled while nothing changes. */
  readonly poll: { readonly minSeconds: number; readonly maxSeconds: number }
  /** Whether the vendor cancels orders at all. */
  readonly isCancellable: boolean
  /** Whether it has been used with a real account; until then, it is built from public documentation only. */
  readonly isTested: boolean
  /** Whether searches show prices; a vendor that estimates each scene by a request of its own has none there. */
  readonly hasSearchPrices: boolean
  /** Our own fee for an order group that the vendor bills to the organization directly. */
  readonly handlingCents: number
}

export interface ExchangeRate {
  /** Australian dollars for one unit of the currency. */
  readonly audPerUnit: number
  /** The day of the rate, such as `2026-11-01`; null for our own currency. */
  readonly day: string | null
  /** For changes of the rate between the order and the vendor's invoice. */
  readonly marginPercent: number
}

export interface SourceCollection {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly dataType: DataType
  readonly gsdM: number | null
  readonly bands: readonly SourceBand[]
  /** Asset keys of the bands, in order; a single key if one file has all bands. */
  readonly assets: readonly string[]
  /** An 8-bit true-colour image of the whole scene, if there is one. */
  readonly visual: string | null
  readonly scale: Scale
  readonly renderStrategy: RenderStrategy
  /** Where tiles of its scenes are rendered from; null if they cannot be. */
  readonly publicProvider: 'landsat' | 'naip' | 'sentinel' | null
  /** Null: those of its source. */
  readonly terms: Terms | null
}

/** `scale`, `offset` and `nodata` apply where the scene does not state them. */
interface SourceBand {
  readonly name: string
  readonly role: string | null
  /** Asset that holds the band; bands of the same asset are its bands in this order. Null: no file can be read. */
  readonly asset: string | null
  readonly commonName: string | null
  readonly scale: number | null
  readonly offset: number | null
  readonly nodata: number | null
}

type ProductType = 'ARCHIVE' | 'TASKING'

/** A product that can be ordered. */
export interface Product {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly type: ProductType
  readonly hostName: string
  readonly collection: string
  /** The licence that must be accepted before ordering; null if there is none. */
  readonly licenceId: string | null
  /** Accepted values of an order's `licenseType`; always includes `standard`. */
  readonly licenseTypes: readonly string[]
  /** Tasking: whether a feasibility study, a quotation, or neither is required before the order is placed. */
  readonly steps: readonly ('feasibility' | 'quotation')[]
  /** JSON Schema 2020-12 of the order's `params`. */
  readonly paramsSchema: Readonly<Record<string, unknown>>
  readonly gsdM: number
  /** Maximum area of one capture or feature in km²; null if the vendor states none. */
  readonly maxSqKm: number | null
  /** The vendor's own name of the product, if its adapter needs one. */
  readonly vendorProduct: string | null
  /** The operator's price where the vendor states none, in cents of the source's currency; null: by contract. */
  readonly rateCard: VendorPrice | null
  /** Tasking: the satellites that take the images, by catalogue number. */
  readonly satellites: readonly { readonly name: string; readonly noradId: number }[]
}

export interface Licence {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  /** Newest first; the first one must be accepted. */
  readonly documents: readonly LicenceDocument[]
}

export interface LicenceDocument {
  readonly id: string
  readonly version: string
  readonly language: string
  readonly validFrom: string
  readonly text: string
}

export interface Provider {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly roles: readonly ('PRODUCER' | 'HOST')[]
  readonly url: string | null
}

export interface VendorCatalog {
  search(query: SceneSearch, options?: CallOptions): Promise<ScenePage>
  /** Throws if the host cannot be searched. */
  probe(options?: CallOptions): Promise<void>
  /** Null if the host does not have the scene. */
  scene(id: string, options?: CallOptions): Promise<Scene | null>
  /** The host's own preview image of a scene; null if it has none. */
  preview(scene: Scene, kind: 'thumbnail' | 'overview', options?: CallOptions): Promise<PreviewImage | null>
  /** Reads a file from the host itself; `refused` if the URL is elsewhere. */
  read(href: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<Uint8Array>
}

/** Files that can only be read with a signature, which expires. Items and caches keep the URL without it. */
export interface FileUrls {
  isSigned(url: string): boolean
  /** With a valid signature. `refused` is the version of a signature that the host did not accept. */
  sign(url: string, refused: string | null): Promise<SignedUrl>
}

export interface FileDownload {
  /** Of the whole file; null if the host does not state it. */
  readonly sizeBytes: number | null
  /** Identifies the content, so that a resumed transfer is of the same file; null if the host states nothing. */
  readonly version: string | null
  readonly body: AsyncIterable<Uint8Array>
}

export interface SignedUrl {
  readonly url: string
  readonly version: string
  /** How long the signature can still be used. */
  readonly validMs: number
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Whether the call fails at once if the host does not respond lately or limits requests, instead of waiting for it. */
  readonly failFast?: boolean
  /** For the whole call, including queueing and retries. Defaults to the host's deadline. */
  readonly deadlineMs?: number
}

export interface SceneSearch {
  readonly collections?: readonly string[]
  readonly ids?: readonly string[]
  /** Inclusive; null for an open interval. */
  readonly from?: Date | null
  readonly to?: Date | null
  readonly bbox?: Bbox
  readonly intersects?: AreaGeometry
  readonly cloudCover?: { readonly operator: 'GTE' | 'LTE' | 'GT' | 'LT'; readonly percent: number }
  readonly limit: number
  /** The host's cursor from the previous page. */
  readonly cursor?: string | null
}

export interface ScenePage {
  readonly scenes: readonly Scene[]
  /** Null on the last page. */
  readonly cursor: string | null
}

export interface Scene {
  readonly id: string
  readonly collection: string
  readonly geometry: Geometry | null
  readonly bbox: Bbox | null
  /** Acquisition time, or its start. */
  readonly datetime: string | null
  /** Percent; null if unknown. */
  readonly cloudCover: number | null
  /** As the host returns them, with STAC names. */
  readonly properties: Readonly<Record<string, unknown>>
  readonly assets: Readonly<Record<string, SceneAsset>>
  /** The product to order it as; null for open data. */
  readonly productId: string | null
  /** The scene's own URL at the host, and that of its licence; null if the host states none. */
  readonly url: string | null
  readonly licenseUrl: string | null
}

export interface SceneAsset {
  readonly href: string
  readonly type: string | null
  readonly title: string | null
  readonly roles: readonly string[]
  /** What else the host states about the file, in STAC's names: `eo:bands`, `raster:bands`, `bands`, `gsd`, `proj:shape`. */
  readonly fields: Readonly<Record<string, unknown>>
}

interface PreviewImage {
  readonly contentType: string
  readonly bytes: Buffer
}

/**
 * The ordering API of a commercial host. Every call that changes something has a `reference`, which is our handle at the vendor: an
 * adapter looks for it before it places an order, so that a call can be repeated after a lost response and buys once.
 */
export interface VendorShop {
  /** A price for each capture, in the same order. */
  price(captures: readonly PriceRequest[], options?: CallOptions): Promise<readonly PriceResult[]>
  /** Returns the order with this reference if the vendor has it already. Calls for one reference must not run concurrently. */
  placeOrder(order: VendorOrderRequest, options?: CallOptions): Promise<VendorOrder>
  /** The order with this reference; null if the vendor does not have it. */
  findOrder(order: VendorOrderRequest, options?: CallOptions): Promise<VendorOrder | null>
  /** `not-found` if the vendor does not have the order. */
  order(vendorOrderId: string, options?: CallOptions): Promise<VendorOrder>
  /** `refused` once production has started. Cancelling again changes nothing. */
  cancelOrder(vendorOrderId: string, options?: CallOptions): Promise<VendorOrder>
  /** The bytes of a delivered file from an offset. Throws if the transfer ends early. */
  download(
    vendorOrderId: string,
    fileId: string,
    options?: { readonly offset?: number; readonly signal?: AbortSignal },
  ): AsyncIterable<Uint8Array>
  requestStudy(request: TaskingRequest, options?: CallOptions): Promise<Study>
  study(studyId: string, options?: CallOptions): Promise<Study>
  requestQuotation(request: QuotationRequest, options?: CallOptions): Promise<Quotation>
  quotation(quotationId: string, options?: CallOptions): Promise<Quotation>
  /**
   * The ID of the study or quotation that was requested with this reference; null if there is none. Only vendors at which a request
   * remains open until it is declined have it.
   */
  findTerms?(reference: string, options?: CallOptions): Promise<string | null>
  /** Tells a vendor that keeps them open that nobody wants what it studied or quoted. Declining again changes nothing. */
  declineTerms?(studyOrQuotationId: string, options?: CallOptions): Promise<void>
  /** Satellite passes over an area within a time range, earliest first. */
  opportunities(query: OpportunitySearch, options?: CallOptions): Promise<readonly Opportunity[]>
}

/** Prices an archive scene, or an area for a tasking product. */
export interface PriceRequest {
  readonly sceneId?: string
  readonly productId?: string
  readonly geometry: AreaGeometry
  readonly params?: Readonly<Record<string, unknown>>
}

export type PriceResult =
  | {
      readonly ok: true
      readonly productId: string
      readonly price: VendorPrice
      readonly resolutionClass: string
      /** The part of the geometry that the scene covers; the whole geometry for tasking. */
      readonly geometry: AreaGeometry
      readonly acquiredAt: string | null
    }
  /** `reason` is shown to users: unknown scene, no overlap with the area, area too large. */
  | { readonly ok: false; readonly reason: string }

/**
 * What a vendor charges, in cents (or other minor units) of the source's currency, without markup and contracted rates. `contract`: as
 * agreed between the vendor and its customer; the API has no price.
 */
export type VendorPrice =
  | { readonly basis: 'area'; readonly centsPerSqKm: number; readonly minimumSqKm: number }
  | { readonly basis: 'scene' | 'order'; readonly cents: number }
  | { readonly basis: 'contract' }

export interface VendorOrderRequest {
  readonly reference: string
  /** When the order was made here: an earlier one at the vendor is another one. */
  readonly createdAt: Date
  /** What the vendor is expected to charge, in cents of its currency: it is not asked for an order that costs more. Null: by contract. */
  readonly expectedCents: number | null
  readonly productId: string
  readonly licenseType: string
  readonly captures?: readonly { readonly sceneId: string; readonly geometry: AreaGeometry }[]
  /** The union of the captures' areas. */
  readonly clipArea?: AreaGeometry
  /** Tasking: the area, and what was agreed on. */
  readonly area?: AreaGeometry
  readonly params?: Readonly<Record<string, unknown>>
  readonly studyOptionId?: string
  readonly quotationId?: string
  /** Told when something happened. It is only a hint to ask: nothing in it is believed. */
  readonly callbackUrl?: string
}

/** `part`: delivered, but not all of it; `captures` tell which. */
type VendorOrderStatus = 'placed' | 'accepted' | 'delivered' | 'part' | 'failed' | 'cancelled'

export interface VendorOrder {
  readonly id: string
  readonly reference: string
  readonly status: VendorOrderStatus
  /** Why all or part of it failed. */
  readonly reason: string | null
  readonly captures: readonly {
    readonly sceneId: string
    readonly status: 'waiting' | 'delivered' | 'failed'
    readonly reason: string | null
  }[]
  /** Empty until delivered. */
  readonly files: readonly DeliveredFile[]
  /** What the vendor charged, in cents of its currency; null if it does not say. */
  readonly chargedCents: number | null
  /** The area that the vendor charged for; null if it does not say. */
  readonly chargedSqKm: number | null
  /** A state of the vendor that the adapter does not know, and takes for `accepted`. */
  readonly unknownStatus: string | null
}

/** `data` and `mask` are rasters; `metadata` and `overview` are kept as they are. */
export const FILE_ROLES = ['data', 'mask', 'metadata', 'overview'] as const
type FileRole = (typeof FILE_ROLES)[number]

/** A delivered file, with the metadata for its item. */
export interface DeliveredFile {
  readonly id: string
  readonly fileName: string
  readonly sceneId: string
  /** Files with the same key become one item. */
  readonly itemKey: string
  /** Key of its asset, unique in the item. */
  readonly assetKey: string
  readonly role: FileRole
  readonly mediaType: string
  /** Null if the vendor does not know the size before the file is produced. */
  readonly bytes: number | null
  /** Hexadecimal; null if the vendor states none. */
  readonly sha256: string | null
  readonly md5: string | null
  /** Null: as the file says, or the ordered scene. */
  readonly datetime: string | null
  readonly cloudCover: number | null
  /** Empty: as the file says. */
  readonly bands: readonly { readonly name: string; readonly role: string | null }[]
  /** Properties of the item, with STAC names. */
  readonly properties: Readonly<Record<string, unknown>>
}

export interface TaskingRequest {
  readonly reference: string
  readonly productId: string
  readonly area: AreaGeometry | { readonly type: 'Point'; readonly coordinates: [number, number] }
  readonly params: Readonly<Record<string, unknown>>
}

export interface Study {
  readonly id: string
  readonly reference: string
  readonly status: 'waiting' | 'answered' | 'infeasible'
  readonly reason: string | null
  readonly options: readonly StudyOption[]
}

/** What a vendor does not state is null. */
interface StudyOption {
  readonly id: string
  readonly description: string
  /** In the source's currency, without markup; null: by contract. */
  readonly cents: number | null
  readonly acquisitionStart: string | null
  readonly acquisitionEnd: string | null
  readonly maxCloudCover: number | null
  readonly maxOffNadirDeg: number | null
}

export interface QuotationRequest extends TaskingRequest {
  readonly studyOptionId?: string
}

export interface Quotation {
  readonly id: string
  readonly reference: string
  readonly status: 'waiting' | 'issued' | 'refused'
  readonly reason: string | null
  /** In the source's currency, without markup; null while waiting. */
  readonly cents: number | null
}

export interface OpportunitySearch {
  readonly productId: string
  readonly area: AreaGeometry | { readonly type: 'Point'; readonly coordinates: [number, number] }
  readonly from: Date
  readonly to: Date
  readonly maxOffNadirDeg?: number
  readonly limit: number
}

/** What a vendor does not state is null: radar has no sun. */
export interface Opportunity {
  readonly satellite: string | null
  readonly noradId: number | null
  readonly start: string
  readonly end: string
  readonly offNadirDeg: number | null
  readonly sunElevationDeg: number | null
}

/**
 * `unavailable`: the host cannot be reached or fails; `timeout`: no response in time; `unauthorized`: it does not accept the
 * credential, even a renewed one; `forbidden`: the account must not do this, because of a quota, a contract or a missing card;
 * `refused`: it rejects the request with a reason; `invalid-response`: the response violates its protocol; `not-found`.
 */
export type VendorErrorCode = 'unavailable' | 'timeout' | 'unauthorized' | 'forbidden' | 'refused' | 'invalid-response' | 'not-found'

/** A failure of a vendor, with a code that does not depend on the vendor. The message is shown to users and names the host. */
export class VendorError extends Error {
  readonly code: VendorErrorCode
  readonly hostName: string
  constructor(code: VendorErrorCode, hostName: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.hostName = hostName
  }
}
