import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely'

type Json = Record<string, unknown>

export interface MoneyTables {
  wallet: {
    org_id: string
    available: Generated<number>
    reserved: Generated<number>
    is_funded: Generated<boolean>
    customer_id: string | null
    auto_enabled: Generated<boolean>
    auto_threshold: number | null
    auto_amount: number | null
    auto_daily_cap_cents: number | null
    auto_attempted_at: Date | null
  }
  reservation: {
    id: string
    org_id: string
    user_id: string | null
    api_key_id: string | null
    mode: BillingMode
    reference_type: string
    reference_id: string
    credits: number
    captured_credits: Generated<number>
    refunded_credits: Generated<number>
    state: Generated<ReservationState>
    counts_for_caps: boolean
    lines: JSONColumnType<SpendLine[]>
    failure: string | null
    deadline_at: Date | null
    approval_id: string | null
    invocation_id: string
    invoiced_reference: string | null
    invoiced_at: Date | null
    created_at: Date
    settled_at: Date | null
  }
  agreed_spend: {
    reservation_id: string
    /** The ID of a tasking order's group, or '' for the whole purchase. */
    part: string
    org_id: string
    user_id: string | null
    credits: number
    captured_credits: Generated<number>
    agreed_at: Date
  }
  accrual_entry: {
    seq: GeneratedAlways<number>
    org_id: string
    reservation_id: string
    kind: AccrualKind
    credits: number
    invoice_id: string | null
    invocation_id: string
    created_at: Date
  }
  ledger_transfer: {
    seq: GeneratedAlways<number>
    id: string
    org_id: string
    type: TransferType
    source: LedgerAccount
    target: LedgerAccount
    credits: number
    available_after: number
    reserved_after: number
    reservation_id: string | null
    reference_type: string | null
    reference_id: string | null
    payment_intent_id: string | null
    description: string | null
    invocation_id: string
    created_at: Date
  }
  payment_method: {
    id: string
    org_id: string
    processor_id: string
    brand: string
    last4: string
    exp_month: number
    exp_year: number
    is_default: boolean
    created_at: Date
    detached_at: Date | null
  }
  payment_attempt: {
    id: string
    org_id: string
    kind: AttemptKind
    request_key: string
    aud_cents: number
    credits: number
    bonus_credits: Generated<number>
    status: AttemptStatus
    payment_intent_id: string | null
    confirm_count: Generated<number>
    captured_cents: Generated<number>
    failure: string | null
    reservation_id: string | null
    user_id: string | null
    invocation_id: string
    created_at: Date
    updated_at: Date
  }
  processor_event: { id: string; type: string; payment_intent_id: string | null; received_at: Date }
  invoice: {
    id: string
    org_id: string
    number: string
    period: string
    status: InvoiceStatus
    lines: JSONColumnType<InvoiceLine[]>
    commitments: JSONColumnType<StatementCommitment[]>
    subtotal_cents: number
    gst_cents: number
    total_cents: number
    due_cents: number
    customer: JSONColumnType<InvoiceCustomer>
    processor_invoice_id: string | null
    failure: string | null
    reference: string | null
    note: string | null
    issued_at: Date
    due_at: Date
    paid_at: Date | null
  }
  commitment: {
    id: string
    org_id: string
    name: string
    products: string[]
    period_start: string
    period_end: string
    minimum_cents: number | null
    minimum_km2: number | null
    rates: JSONColumnType<Rate[]>
    created_at: Date
    updated_at: Date
  }
  approval: {
    id: string
    org_id: string
    requested_by: string
    credits: number | null
    operation: string | null
    input: JSONColumnType<Json> | null
    reason: string | null
    price_credits: number | null
    status: Generated<ApprovalStatus>
    decided_by: string | null
    decision_reason: string | null
    created_at: Date
    decided_at: Date | null
    expires_at: Date
    used_at: Date | null
  }
  reconciliation: {
    id: string
    org_id: string
    stored_bytes: number
    counted_bytes: number
    available: number
    counted_available: number
    reserved: number
    counted_reserved: number
    has_drift: boolean
    created_at: Date
  }
}

export type BillingMode = 'credit' | 'card' | 'enterprise'
export type ReservationState = 'live' | 'capturing' | 'releasing' | 'captured' | 'released'
/** Agreed but not delivered; the correction to what was delivered; a later refund. */
export type AccrualKind = 'provisional' | 'final' | 'refund'
export type TransferType = 'grant' | 'topup' | 'bonus' | 'reservation' | 'capture' | 'release' | 'refund' | 'adjustment'
/** Where credits come from and go to; an organization's own accounts are `available` and `reserved`. */
export type LedgerAccount = 'available' | 'reserved' | 'captured' | 'purchased' | 'granted' | 'bonus' | 'adjusted'
type AttemptKind = 'topup' | 'auto_topup' | 'hold'
export type AttemptStatus = 'created' | 'pending' | 'authorized' | 'held' | 'succeeded' | 'captured' | 'voided' | 'failed'
type InvoiceStatus = 'open' | 'paid' | 'past_due'
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'used'
export type CommitmentStatus = 'upcoming' | 'active' | 'met' | 'shortfall'

// JSON documents; their fields are spelled as in the API.

/** One priced part of a spend. `product` is null for compute. */
export interface SpendLine {
  product: string | null
  area_km2: number | null
  credits: number
}
/** A negotiated price of a product, or a discount on its list price. */
export interface Rate {
  product: string
  credits_per_km2: number | null
  discount_percent: number | null
}
export interface InvoiceLine {
  kind: 'plan' | 'order' | 'job' | 'shortfall'
  description: string
  reference_id: string | null
  quantity: number
  amount_aud: number
}
/** A commitment as of the closing of a month. */
export interface StatementCommitment {
  id: string
  name: string
  delivered_to_date: number
  remaining: number
  shortfall: number
  status: CommitmentStatus
}
/** The addressee of an invoice, as of its date. */
export interface InvoiceCustomer {
  name: string
  abn: string | null
  tax_number: string | null
  billing_email: string | null
  billing_address: Json | null
}
