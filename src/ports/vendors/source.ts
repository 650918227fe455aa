/** What the registry says about sources of imagery, their products and their licences. */
import type { VendorPrice } from './shop.ts'

/** The parts of a credential that an account needs at a host. */
export const SECRET_FIELDS = ['key', 'user', 'password', 'client_id', 'client_secret'] as const
export type SecretField = (typeof SECRET_FIELDS)[number]
export type AccountSecret = Readonly<Partial<Record<SecretField, string>>>

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

/** `scl`: the scene classification of Sentinel-2. */
export const CLOUD_MASKS = ['scl'] as const

export interface CloudMask {
  readonly asset: string
  readonly kind: (typeof CLOUD_MASKS)[number]
}

export type Bbox = readonly [west: number, south: number, east: number, north: number]

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
  /** Where clouds are marked, if the source has it. */
  readonly cloudMask: CloudMask | null
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
