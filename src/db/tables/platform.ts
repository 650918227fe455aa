import type { Artifact, ClaimState } from '#core/vocabulary.ts'
import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely'

type Json = Record<string, unknown>

export interface PlatformTables {
  rate_window: { subject: string; started_at: Date; used: number }
  replica_mark: { id: string; pid: number }
  access_log: { name: string; read_at: Date; downloads: number; bytes: number }
  trace_link: { id: string; traceparent: string; created_at: Generated<Date> }
  erasure: { org_id: string; erased_at: Date; keep_until: Date; buckets: string[]; proof: JSONColumnType<Json> }
  erasing: {
    org_id: string
    begun_at: Date
    keep_until: Date
    buckets: string[]
    deleted: JSONColumnType<Record<string, number>>
    deleted_accounts: Generated<number>
    remaining_accounts: Generated<number>
  }
  erasing_id: { org_id: string; kind: 'id' | 'user' | 'address'; id: string }
  installation: { is_only: Generated<boolean>; id: string; created_at: Date }
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
    is_final: Generated<boolean>
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
    /** 64 bits, so it is a string. */
    txid: Generated<string>
    project_id: string | null
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
    calls: Generated<number>
    subject: string | null
  }
}
