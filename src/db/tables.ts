import type { Meter } from '#core/meters.ts'
import type {
  Artifact,
  AssetState,
  ClaimState,
  EnterpriseStatus,
  InvitationOutcome,
  ItemType,
  LifecycleState,
  OrganizationRole,
  ProfileLayer,
  ProfileType,
  ProjectRole,
  Region,
  SharePermission,
  ShareTarget,
  UploadFileState,
  UploadState,
  Visibility,
} from '#core/vocabulary.ts'
import type { JWK } from 'jose'
import type { Generated, GeneratedAlways, JSONColumnType, Kysely, Transaction } from 'kysely'

type Json = Record<string, unknown>

export interface Tables {
  app_user: {
    id: string
    email: string
    name: string
    password_hash: string
    is_active: Generated<boolean>
    is_system_admin: Generated<boolean>
    is_clip_user: Generated<boolean>
    last_org_id: string | null
    created_at: Date
  }
  organization: {
    id: string
    name: string
    slug: string
    description: string | null
    website: string | null
    industry: string | null
    size: string | null
    country: string | null
    abn: string | null
    tax_number: string | null
    billing_email: string | null
    billing_admin_id: string | null
    billing_address: JSONColumnType<Json> | null
    enterprise_status: Generated<EnterpriseStatus>
    plan_id: Generated<string>
    rate_limit_per_hour: Generated<number>
    retention_since: Date
    created_at: Date
    updated_at: Date
  }
  organization_plan: { org_id: string; plan_id: string; started_at: Date; changed_by: string | null; invocation_id: string | null }
  organization_member: {
    org_id: string
    user_id: string
    role: OrganizationRole
    per_order_limit_credits: number | null
    spend_limit_credits: number | null
    created_at: Date
  }
  project: {
    id: string
    org_id: string
    name: string
    description: string | null
    visibility: Visibility
    region: Region | null
    bucket_name: string | null
    item_count: Generated<number>
    storage_bytes: Generated<number>
    created_by: string | null
    created_at: Date
    updated_at: Date
    archived_at: Date | null
    deleted_at: Date | null
  }
  project_member: { project_id: string; user_id: string; role: ProjectRole; created_at: Date }
  invitation: {
    id: string
    org_id: string
    project_id: string
    email: string
    role: ProjectRole
    invited_by: string | null
    created_at: Date
    expires_at: Date
    closed_at: Date | null
    outcome: InvitationOutcome | null
  }
  api_key: {
    id: string
    org_id: string
    user_id: string
    name: string
    prefix: string
    secret_hash: Buffer
    permissions: string[]
    explicit_scopes: Generated<string[]>
    rate_limit_per_hour: number | null
    is_active: Generated<boolean>
    expires_at: Date | null
    created_at: Date
    revoked_at: Date | null
    last_used_at: Date | null
    total_requests: Generated<number>
  }
  user_session: { id: string; user_id: string; org_id: string | null; created_at: Date; expires_at: Date; ended_at: Date | null }
  refresh_token: { token_hash: Buffer; session_id: string; created_at: Date; spent_at: Date | null }
  signing_key: { kid: string; private_jwk: JSONColumnType<JWK>; created_at: Date }
  rate_window: { subject: string; started_at: Date; used: number }
  shared_secret: { name: string; value: Buffer; created_at: Date }
  idempotency_claim: {
    owner_id: string
    path: string
    key: string
    body_hash: Buffer
    state: ClaimState
    lease: string
    lease_until: Date
    invocation_id: string
    response_status: number | null
    response_type: string | null
    response_body: Buffer | null
    expires_at: Date
  }
  lineage_node: {
    seq: GeneratedAlways<number>
    org_id: string
    project_id: string | null
    entity_type: Artifact
    entity_id: string
    invocation_id: string
    created_at: Date
  }
  lineage_edge: { src_seq: number; dst_seq: number; relation: string; invocation_id: string; created_at: Date }
  event: {
    seq: GeneratedAlways<number>
    id: string
    org_id: string
    type: string
    entity_type: string
    entity_id: string
    data: JSONColumnType<Json>
    invocation_id: string
    occurred_at: Date
  }
  audit: {
    invocation_id: string
    org_id: string | null
    principal_kind: string
    principal_id: string
    user_id: string | null
    api_key_id: string | null
    operation: string
    input_hash: Buffer | null
    status: number
    duration_ms: number
    artifacts: Generated<string[]>
    at: Date
  }
  collection: {
    id: string
    org_id: string
    project_id: string
    name: string
    description: string | null
    color: string | null
    show_on_map: Generated<boolean>
    layer_order: Generated<number>
    system_key: string | null
    source_type: string | null
    source_id: string | null
    created_by: string | null
    created_at: Date
    updated_at: Date
    deleted_at: Date | null
  }
  item: {
    seq: GeneratedAlways<number>
    id: string
    org_id: string
    project_id: string
    collection_id: string | null
    stac_id: string
    type: ItemType
    name: string
    description: string | null
    geometry: JSONColumnType<Json> | null
    bbox: number[] | null
    /** As PostgreSQL writes it: it is compared in the database only. */
    footprint: string | null
    cells: Generated<number[]>
    datetime: Date | null
    start_datetime: Date | null
    end_datetime: Date | null
    cloud_cover: number | null
    gsd: number | null
    properties: JSONColumnType<Json>
    stac_extensions: Generated<string[]>
    lifecycle_state: Generated<LifecycleState>
    expires_at: Date | null
    due_at: Date | null
    archived_at: Date | null
    last_accessed_at: Date | null
    previous_version_id: string | null
    duplicated_from_id: string | null
    order_id: string | null
    upload_id: string | null
    job_id: string | null
    created_by: string | null
    created_at: Date
    updated_at: Date
    deleted_at: Date | null
  }
  item_cell: { org_id: string; cell: number; datetime: Date; seq: number; x0: number; y0: number; x1: number; y1: number }
  asset: {
    id: string
    org_id: string
    item_seq: number
    key: string
    title: string | null
    media_type: string | null
    roles: Generated<string[]>
    bucket: string | null
    object_key: string | null
    href: string | null
    file_size_bytes: number | null
    sha256: Buffer | null
    band_names: string[] | null
    raster: JSONColumnType<Json> | null
    state: Generated<AssetState>
    created_at: Date
    updated_at: Date
  }
  share_link: {
    id: string
    org_id: string
    project_id: string
    token_hash: Buffer
    password_hash: string
    target_type: ShareTarget
    target_id: string
    item_seq: number | null
    collection_id: string | null
    permission: SharePermission
    expires_at: Date
    revoked_at: Date | null
    access_count: Generated<number>
    last_accessed_at: Date | null
    created_by: string | null
    created_at: Date
  }
  upload_session: {
    id: string
    org_id: string
    project_id: string
    bucket: string
    state: Generated<UploadState>
    file_count: number
    total_bytes: number
    reserved_bytes: number
    bytes_uploaded: Generated<number>
    target_collection_id: string | null
    target_item_id: string | null
    asset_key: string | null
    is_categorical: boolean
    item_ids: Generated<string[]>
    error_step: string | null
    error_message: string | null
    created_by: string | null
    created_at: Date
    updated_at: Date
    progress_at: Date
    closed_at: Date | null
  }
  upload_file: {
    id: string
    upload_id: string
    ordinal: number
    given_name: string
    name: string
    content_type: string
    object_key: string
    state: Generated<UploadFileState>
    step: string
    fraction: number | null
    error: string | null
    size_bytes: number | null
    item_id: string | null
    asset_id: string | null
    source_key: string | null
    run_id: string | null
    attempts: Generated<number>
    heartbeat_at: Date | null
    created_at: Date
    updated_at: Date
  }
  orphan_object: { bucket: string; key: string; seen_at: Date; last_seen_at: Date }
  storage_account: { org_id: string; used_bytes: Generated<number>; reserved_bytes: Generated<number>; recalculated_at: Date | null }
  usage_day: { org_id: string; day: string; meter: Meter; amount: number }
  egress_account: { org_id: string; window_started_at: Date | null; window_starts: Generated<number>; paused_until: Date | null }
  egress_minute: { org_id: string; minute: Date; bytes: number; starts: number }
  egress_log: {
    id: string
    org_id: string
    kind: string
    item_id: string | null
    asset_id: string | null
    bytes: number
    principal_kind: string
    user_id: string | null
    api_key_id: string | null
    invocation_id: string
    at: Date
  }
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
  visualization_profile: {
    id: string
    org_id: string
    item_seq: number
    name: string
    layer: ProfileLayer
    type: ProfileType
    is_default: Generated<boolean>
    sort_order: Generated<number>
    config: JSONColumnType<ProfileConfig>
    asset_key: string | null
    version: Generated<number>
    created_by: string | null
    created_at: Date
    updated_at: Date
  }
}

export type BillingMode = 'credit' | 'card' | 'enterprise'
export type ReservationState = 'live' | 'capturing' | 'releasing' | 'captured' | 'released'
export type TransferType = 'grant' | 'topup' | 'bonus' | 'reservation' | 'capture' | 'release' | 'refund' | 'adjustment'
/** Where credits come from and go to; an organization's own are `available` and `reserved`. */
export type LedgerAccount = 'available' | 'reserved' | 'captured' | 'purchased' | 'granted' | 'bonus' | 'adjusted'
type AttemptKind = 'topup' | 'auto_topup' | 'hold'
export type AttemptStatus = 'created' | 'pending' | 'authorized' | 'held' | 'succeeded' | 'captured' | 'voided' | 'failed'
type InvoiceStatus = 'open' | 'paid' | 'past_due'
export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'used'
export type CommitmentStatus = 'upcoming' | 'active' | 'met' | 'shortfall'

// Documents that are kept whole, as JSON: their fields are spelled as they are stored, which is as the interface shows them.

/** One priced part of a spend. `product` is null for compute. */
export interface SpendLine {
  product: string | null
  area_km2: number | null
  credits: number
}
/** A negotiated price of a product, or a part off its list price. */
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
/** A commitment as it stood when a month was closed. */
export interface StatementCommitment {
  id: string
  name: string
  delivered_to_date: number
  remaining: number
  shortfall: number
  status: CommitmentStatus
}
/** Who an invoice was made out to, as they were called then. */
export interface InvoiceCustomer {
  name: string
  abn: string | null
  tax_number: string | null
  billing_email: string | null
  billing_address: Json | null
}

/**
 * What a visualization profile says about bands and colours. A range is kept only where somebody chose one: otherwise the
 * image's own applies.
 */
interface ProfileConfig {
  /** From 1: one, or three for red, green and blue. */
  bands?: number[]
  expression?: string
  colormap?: string
  /** `min,max`, or one pair a band separated by `;`. */
  rescale?: string
  /** Samples are numbers of classes: each has a colour of its own and none is stretched or mixed. */
  color_table?: boolean
  resampling?: 'nearest' | 'bilinear' | 'cubic' | 'average'
}

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>
