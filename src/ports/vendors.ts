/**
 * The vendors of imagery as the platform sees them: a registry of sources, which is data, and a client for each host. Open
 * hosts can be searched; commercial ones sell as well. `adapters/vendors` speaks to them, docs/adr/0022-vendors.md says how.
 */
import type { AreaGeometry, Geometry } from '#core/geometry.ts'

export interface Vendors {
  /** Those that are switched on, in the order of the registry. */
  readonly sources: readonly Source[]
  readonly products: readonly Product[]
  readonly licences: readonly Licence[]
  readonly providers: readonly Provider[]
  /** Null: no source of that name is switched on. */
  source(hostName: string): Source | null
  /** By id or by name; null when nobody sells it. */
  product(idOrName: string): Product | null
  licence(id: string): Licence | null
  /** What a host of any kind can be asked. Throws for a name that `source` does not know. */
  catalog(hostName: string): VendorCatalog
  /** One scene; null if the host has none of that id. A map asks for many tiles of one scene, so a scene that was found is kept. */
  scene(hostName: string, collectionId: string, id: string): Promise<Scene | null>
  /** What a host that sells can be asked; null for open data. */
  shop(hostName: string): VendorShop | null
  close(): Promise<void>
}

export const DATA_TYPES = ['raster', 'dem', 'pointcloud', 'altimetry', 'vector'] as const
type DataType = (typeof DATA_TYPES)[number]

/** `cog`: tiles are drawn from the scene's own files; `preview`: there is a picture only; `points`; `none`. */
type RenderStrategy = 'cog' | 'preview' | 'points' | 'none'

type Bbox = readonly [west: number, south: number, east: number, north: number]

export interface Source {
  readonly id: string
  readonly title: string
  readonly description: string
  /** What `catalog.search` is called with. */
  readonly hostName: string
  readonly protocol: 'stac' | 'commercial'
  readonly accessModel: 'open' | 'commercial'
  readonly scope: 'global' | 'regional' | 'national'
  /** ISO 3166 codes, for national and regional sources. */
  readonly countries: readonly string[]
  /** Boxes that it covers; none: the whole Earth. */
  readonly coverage: readonly Bbox[]
  readonly attribution: string
  readonly license: string
  /** The provider of the glossary that runs the host. */
  readonly provider: string
  readonly renderStrategy: RenderStrategy
  readonly collections: readonly SourceCollection[]
  /** Its scenes are invented: nobody is to be charged real money for them. */
  readonly simulated: boolean
  /** Percent that is added to the vendor's own price. */
  readonly markupPercent: number
}

export interface SourceCollection {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly dataType: DataType
  readonly gsdM: number | null
  readonly bands: readonly { readonly name: string; readonly role: string | null }[]
  /** Assets that hold the bands, in their order; one for a file with all of them. */
  readonly assets: readonly string[]
  /** From which the scene's tiles are drawn; null where it cannot be. */
  readonly publicProvider: 'landsat' | 'naip' | 'sentinel' | null
}

type ProductType = 'ARCHIVE' | 'TASKING'

/** Something that can be ordered. */
export interface Product {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly type: ProductType
  readonly hostName: string
  readonly collection: string
  /** The licence that must be accepted before it is ordered; null where there is none. */
  readonly licenceId: string | null
  /** What `licenseType` of an order may be; `standard` is always among them. */
  readonly licenseTypes: readonly string[]
  /** Tasking: whether a study comes before anything else, or a quotation does, or neither. */
  readonly steps: readonly ('feasibility' | 'quotation')[]
  /** Of the order's `params`: JSON Schema 2020-12. */
  readonly paramsSchema: Readonly<Record<string, unknown>>
  readonly gsdM: number
  /** Square kilometres that one capture or one feature covers at most; null: the vendor does not say. */
  readonly maxSqKm: number | null
  /** Tasking: the satellites that take the images, by catalogue number. */
  readonly satellites: readonly { readonly name: string; readonly noradId: number }[]
}

export interface Licence {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  /** Newest first. The first one is what must be accepted. */
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
  search(wanted: SceneSearch, options?: CallOptions): Promise<ScenePage>
  /** Null when the host has no such scene. */
  scene(id: string, options?: CallOptions): Promise<Scene | null>
  /** A small picture of a scene, as the host keeps it; null when it has none. */
  picture(scene: Scene, kind: 'thumbnail' | 'overview', options?: CallOptions): Promise<Picture | null>
  /** The bytes of a file that lies at the host itself; `refused` for one that lies elsewhere. */
  read(href: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<Uint8Array>
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** For everything that the call takes, retries and waiting in line included. A host's own deadline by default. */
  readonly deadlineMs?: number
}

export interface SceneSearch {
  readonly collections?: readonly string[]
  readonly ids?: readonly string[]
  /** Both ends belong to it; null is open. */
  readonly from?: Date | null
  readonly to?: Date | null
  readonly bbox?: Bbox
  readonly intersects?: AreaGeometry
  readonly cloudCover?: { readonly operator: 'GTE' | 'LTE' | 'GT' | 'LT'; readonly percent: number }
  readonly limit: number
  /** Of the host, from the page before. */
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
  /** When it was taken, or when it began to be. */
  readonly datetime: string | null
  /** Percent; null where nobody says. */
  readonly cloudCover: number | null
  /** As the host tells them, in STAC's names. */
  readonly properties: Readonly<Record<string, unknown>>
  readonly assets: Readonly<Record<string, SceneAsset>>
  /** The product that it is ordered as; null for what is free to take. */
  readonly productId: string | null
}

interface SceneAsset {
  readonly href: string
  readonly type: string | null
  readonly title: string | null
  readonly roles: readonly string[]
}

interface Picture {
  readonly contentType: string
  readonly bytes: Buffer
}

/**
 * A host that sells. What changes something there has a `reference`, which is ours: the same reference again gives the first
 * answer again, so that a call may be repeated whatever became of its answer.
 */
export interface VendorShop {
  /** A price for each capture, in the order asked. */
  price(captures: readonly PriceQuestion[], options?: CallOptions): Promise<readonly PriceAnswer[]>
  placeOrder(order: VendorOrderRequest, options?: CallOptions): Promise<VendorOrder>
  /** `not-found` when the vendor has no such order. */
  order(vendorOrderId: string, options?: CallOptions): Promise<VendorOrder>
  /** Only what is not produced yet can be cancelled; `refused` otherwise. Cancelling twice is the same as once. */
  cancelOrder(vendorOrderId: string, options?: CallOptions): Promise<VendorOrder>
  /** The bytes of a delivered file from an offset on. Ends early only by throwing. */
  download(
    vendorOrderId: string,
    fileId: string,
    options?: { readonly offset?: number; readonly signal?: AbortSignal },
  ): AsyncIterable<Uint8Array>
  requestStudy(request: TaskingRequest, options?: CallOptions): Promise<Study>
  study(studyId: string, options?: CallOptions): Promise<Study>
  requestQuotation(request: QuotationRequest, options?: CallOptions): Promise<Quotation>
  quotation(quotationId: string, options?: CallOptions): Promise<Quotation>
  /** Passes over a place in a span of time, earliest first. */
  opportunities(wanted: OpportunityQuestion, options?: CallOptions): Promise<readonly Opportunity[]>
}

/** Of a scene of the archive, or of an area for a tasking product. */
export interface PriceQuestion {
  readonly sceneId?: string
  readonly productId?: string
  readonly geometry: AreaGeometry
  readonly params?: Readonly<Record<string, unknown>>
}

export type PriceAnswer =
  | {
      readonly ok: true
      readonly productId: string
      /** Cents of Australian dollars, one of which is a credit; markup included, contracted rates not. */
      readonly centsPerSqKm: number
      /** What at least is paid for, for each order of a group. */
      readonly minimumSqKm: number
      readonly resolutionClass: string
      /** The part of the geometry that the scene shows; the geometry itself for tasking. */
      readonly geometry: AreaGeometry
      readonly acquiredAt: string | null
    }
  /** `reason` is for people: no such scene, nothing of the area on it, too large. */
  | { readonly ok: false; readonly reason: string }

export interface VendorOrderRequest {
  readonly reference: string
  readonly productId: string
  readonly licenseType: string
  readonly captures?: readonly { readonly sceneId: string; readonly geometry: AreaGeometry }[]
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
  /** Why it failed, wholly or in part. */
  readonly reason: string | null
  readonly captures: readonly {
    readonly sceneId: string
    readonly status: 'waiting' | 'delivered' | 'failed'
    readonly reason: string | null
  }[]
  /** Empty until delivered. */
  readonly files: readonly DeliveredFile[]
}

/** A COG that can be downloaded, with what its item shall say. */
export interface DeliveredFile {
  readonly id: string
  readonly fileName: string
  readonly sceneId: string
  readonly mediaType: string
  /** Null where the vendor knows only when it has been made. */
  readonly bytes: number | null
  readonly geometry: AreaGeometry
  readonly datetime: string
  readonly cloudCover: number | null
  readonly bands: readonly { readonly name: string; readonly role: string | null }[]
  /** Of the item, in STAC's names. */
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

interface StudyOption {
  readonly id: string
  readonly description: string
  readonly cents: number
  readonly acquisitionStart: string
  readonly acquisitionEnd: string
  readonly maxCloudCover: number
  readonly maxOffNadirDeg: number
}

export interface QuotationRequest extends TaskingRequest {
  readonly studyOptionId?: string
}

export interface Quotation {
  readonly id: string
  readonly reference: string
  readonly status: 'waiting' | 'issued' | 'refused'
  readonly reason: string | null
  /** Null while it waits. */
  readonly cents: number | null
}

export interface OpportunityQuestion {
  readonly productId: string
  readonly area: AreaGeometry | { readonly type: 'Point'; readonly coordinates: [number, number] }
  readonly from: Date
  readonly to: Date
  readonly maxOffNadirDeg?: number
  readonly limit: number
}

export interface Opportunity {
  readonly satellite: string
  readonly noradId: number
  readonly start: string
  readonly end: string
  readonly offNadirDeg: number
  readonly sunElevationDeg: number
}

/**
 * `unavailable`: it does not answer or fails; `timeout`: not in time; `refused`: it will not, and says why; `nonsense`: what
 * it answered breaks its own protocol; `not-found`.
 */
export type VendorErrorCode = 'unavailable' | 'timeout' | 'refused' | 'nonsense' | 'not-found'

/** What can go wrong at a vendor's, whatever its own words for it. The message is for people and names the host. */
export class VendorError extends Error {
  readonly code: VendorErrorCode
  readonly hostName: string
  constructor(code: VendorErrorCode, hostName: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.hostName = hostName
  }
}
