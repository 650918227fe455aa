import type { Generated, GeneratedAlways, JSONColumnType, Kysely, Transaction } from 'kysely'

type Json = Record<string, unknown>

export interface Tables {
  app_user: {
    id: string; email: string; name: string; password_hash: string
    is_active: Generated<boolean>; is_system_admin: Generated<boolean>; is_clip_user: Generated<boolean>
    last_org_id: string | null; created_at: Date
  }
  organization: {
    id: string; name: string; slug: string; description: string | null; website: string | null; industry: string | null
    size: string | null; country: string | null; abn: string | null; tax_number: string | null; billing_email: string | null
    billing_admin_id: string | null; billing_address: JSONColumnType<Json> | null
    enterprise_status: Generated<'none' | 'requested' | 'confirmed'>; plan_id: Generated<string>
    rate_limit_per_hour: Generated<number>; created_at: Date; updated_at: Date
  }
  organization_member: {
    org_id: string; user_id: string; role: 'owner' | 'admin' | 'member'
    per_order_limit_credits: number | null; spend_limit_credits: number | null; created_at: Date
  }
  project: {
    id: string; org_id: string; name: string; description: string | null; visibility: 'organization' | 'private'
    region: string | null; bucket_name: string | null; item_count: Generated<number>; storage_bytes: Generated<number>
    created_by: string | null; created_at: Date; updated_at: Date; archived_at: Date | null; deleted_at: Date | null
  }
  project_member: { project_id: string; user_id: string; role: ProjectRole; created_at: Date }
  invitation: {
    id: string; org_id: string; project_id: string; email: string; role: ProjectRole; invited_by: string | null
    created_at: Date; expires_at: Date; closed_at: Date | null; outcome: 'accepted' | 'withdrawn' | 'expired' | null
  }
  api_key: {
    id: string; org_id: string; user_id: string; name: string; prefix: string; secret_hash: Buffer
    permissions: string[]; explicit_scopes: Generated<string[]>; rate_limit_per_hour: number | null
    is_active: Generated<boolean>; expires_at: Date | null; created_at: Date; revoked_at: Date | null
    last_used_at: Date | null; total_requests: Generated<number>
  }
  user_session: { id: string; user_id: string; org_id: string | null; created_at: Date; expires_at: Date; ended_at: Date | null }
  refresh_token: { token_hash: Buffer; session_id: string; created_at: Date; spent_at: Date | null }
  signing_key: { kid: string; private_jwk: JSONColumnType<Json>; created_at: Date }
  rate_window: { subject: string; started_at: Date; used: number }
  shared_secret: { name: string; value: Buffer; created_at: Date }
  idempotency_claim: {
    owner_id: string; path: string; key: string; body_hash: Buffer; state: 'running' | 'free' | 'done'
    lease: string; lease_until: Date; invocation_id: string
    response_status: number | null; response_type: string | null; response_body: Buffer | null; expires_at: Date
  }
  lineage_node: {
    seq: GeneratedAlways<number>; org_id: string; project_id: string | null; entity_type: string; entity_id: string
    invocation_id: string; created_at: Date
  }
  lineage_edge: { src_seq: number; dst_seq: number; relation: string; invocation_id: string; created_at: Date }
  event: {
    seq: GeneratedAlways<number>; id: string; org_id: string; type: string; entity_type: string; entity_id: string
    data: JSONColumnType<Json>; invocation_id: string; occurred_at: Date
  }
  audit: {
    invocation_id: string; org_id: string | null; principal_kind: string; principal_id: string; user_id: string | null
    api_key_id: string | null; operation: string; input_hash: Buffer | null; status: number; duration_ms: number
    artifacts: Generated<string[]>; at: Date
  }
  collection: {
    id: string; org_id: string; project_id: string; name: string; description: string | null; color: string | null
    show_on_map: Generated<boolean>; layer_order: Generated<number>; system_key: string | null; source_type: string | null; source_id: string | null
    created_by: string | null; created_at: Date; updated_at: Date; deleted_at: Date | null
  }
  item: {
    seq: GeneratedAlways<number>; id: string; org_id: string; project_id: string; collection_id: string | null; stac_id: string
    type: string; name: string; description: string | null; geometry: JSONColumnType<Json> | null; bbox: number[] | null
    /** As PostgreSQL writes it: it is compared in the database only. */
    footprint: string | null; cells: Generated<number[]>
    datetime: Date | null; start_datetime: Date | null; end_datetime: Date | null; cloud_cover: number | null; gsd: number | null
    properties: JSONColumnType<Json>; stac_extensions: Generated<string[]>; lifecycle_state: Generated<LifecycleState>
    expires_at: Date | null; archived_at: Date | null; last_accessed_at: Date | null
    previous_version_id: string | null; duplicated_from_id: string | null; order_id: string | null; upload_id: string | null; job_id: string | null
    created_by: string | null; created_at: Date; updated_at: Date; deleted_at: Date | null
  }
  item_cell: { org_id: string; cell: number; datetime: Date; seq: number; x0: number; y0: number; x1: number; y1: number }
  asset: {
    id: string; org_id: string; item_seq: number; key: string; title: string | null; media_type: string | null; roles: Generated<string[]>
    bucket: string | null; object_key: string | null; href: string | null; file_size_bytes: number | null; sha256: Buffer | null
    band_names: string[] | null; raster: JSONColumnType<Json> | null; created_at: Date; updated_at: Date
  }
  visualization_profile: {
    id: string; org_id: string; item_seq: number; name: string; layer: ProfileLayer; type: ProfileType; is_default: Generated<boolean>; sort_order: Generated<number>
    config: JSONColumnType<Json>; asset_key: string | null; version: Generated<number>; created_by: string | null; created_at: Date; updated_at: Date
  }
}

export type LifecycleState = 'active' | 'expiring' | 'archived' | 'expired' | 'deleted'
export type ProfileLayer = 'sensor' | 'auto' | 'user'
export type ProfileType = 'rgb' | 'singleband' | 'multiband' | 'expression'
export type ProjectRole = 'admin' | 'editor' | 'viewer'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>
