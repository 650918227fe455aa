/** The ordering API of a commercial host: prices, orders and what they deliver. */
import type { AreaGeometry } from '#core/geometry.ts'
import type { CallOptions } from './call.ts'
import type { Opportunity, OpportunitySearch, Quotation, QuotationRequest, Study, TaskingRequest } from './tasking.ts'

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
  /**
   * Whether nobody has tried to place it before, so that the vendor cannot have it: an adapter that would have to read all orders to find
   * out need not look. Otherwise, or if it is not set, it must.
   */
  readonly isFirstAttempt?: boolean
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
