import type {
  OrderGroupStatus,
  OrderStatus,
  OrderSubStatus,
  OrderType,
  QuotationDecision,
  QuotationState,
  StudyDecision,
  StudyState,
} from '#core/vocabulary.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { Generated, JSONColumnType } from 'kysely'
import type { BillingMode } from './money.ts'

type Json = Record<string, unknown>

export interface OrderTables {
  imagery_order: {
    id: string
    org_id: string
    project_id: string
    order_type: OrderType
    status: OrderStatus
    sub_status: OrderSubStatus | null
    billing_mode: BillingMode
    display_name: string
    license_type: string
    tags: string[]
    estimated_credits: number
    captured_credits: Generated<number>
    simulated: boolean
    failure_reason: string | null
    history: JSONColumnType<OrderStep[]>
    next_poll_at: Date
    created_by: string | null
    api_key_id: string | null
    created_at: Date
    updated_at: Date
    fulfilled_at: Date | null
    cancelled_at: Date | null
  }
  order_group: {
    id: string
    order_id: string
    org_id: string
    ordinal: number
    host_name: string
    product_id: string
    product_name: string
    status: OrderGroupStatus
    sub_status: OrderSubStatus | null
    steps: DecisionStep[]
    captures: JSONColumnType<OrderedCapture[]> | null
    feature_collection: JSONColumnType<Json> | null
    params: JSONColumnType<Json>
    area: JSONColumnType<AreaGeometry>
    area_km2: number
    credits: number
    reserved_credits: number
    captured_credits: Generated<number>
    failure_reason: string | null
    vendor_order_id: string | null
    vendor_option_id: string | null
    vendor_quotation_id: string | null
    /** In cents of the vendor's currency; null: by contract. */
    vendor_currency: string | null
    vendor_cents: number | null
    exchange_rate: number | null
    exchange_day: string | null
    exchange_margin_percent: number | null
    markup_percent: number | null
    vendor_charged_cents: number | null
    /** The organization's account that the vendor bills; null: the operator's. */
    vendor_account_id: string | null
    is_billed_by_vendor: Generated<boolean>
    placing_run_id: string | null
    placing_until: Date | null
    item_ids: Generated<string[]>
    attempts: Generated<number>
    run_id: string | null
    heartbeat_at: Date | null
    updated_at: Date
  }
  feasibility_study: {
    id: string
    org_id: string
    project_id: string
    order_id: string
    group_id: string
    state: Generated<StudyState>
    decision: Generated<StudyDecision>
    options: JSONColumnType<StudyOption[], string | undefined>
    accepted_option_id: string | null
    vendor_id: string | null
    created_at: Date
    decision_at: Date | null
    expires_at: Date
  }
  quotation: {
    id: string
    org_id: string
    project_id: string
    order_id: string
    group_id: string
    state: Generated<QuotationState>
    decision: Generated<QuotationDecision>
    credits: number | null
    vendor_id: string | null
    created_at: Date
    decision_at: Date | null
    expires_at: Date
  }
  order_draft: {
    org_id: string
    id: string
    user_id: string
    name: string | null
    captures: JSONColumnType<DraftCapture[]>
    version: number
    created_at: Date
    updated_at: Date
  }
  tasking_template: {
    id: string
    org_id: string
    name: string
    settings: JSONColumnType<Json>
    created_by: string | null
    created_at: Date
    updated_at: Date
  }
}

export type DecisionStep = 'feasibility' | 'quotation'

// JSON documents; their fields are spelled as in the API.

/** One entry in an order's history. */
interface OrderStep {
  timestamp: string
  status: OrderStatus
  reason: string | null
}
/** A scene in a draft. */
export interface DraftCapture {
  id: string
  host: string
  /** The part to order; null for the whole scene. */
  geometry: AreaGeometry | null
  /** What a client shows of the scene. */
  scene: Json
  /** Its price when the draft was saved; null if unknown. */
  quoted_credits: number | null
}

/** An archive scene and the part of it that is bought. */
export interface OrderedCapture {
  id: string
  host: string
  geometry: AreaGeometry
  acquiredAt: string | null
  /** The vendor's price of this capture, in cents of its currency, if each capture is charged. */
  vendorCents?: number
}
export interface StudyOption {
  id: string
  description: string
  credits: number
  acquisitionStart: string
  acquisitionEnd: string
  /** Percent; null if unknown. */
  maxCloudCover: number | null
  maxOffNadirDeg: number | null
}
