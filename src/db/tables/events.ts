import type { AlertComparison, DeliveryState, DeliveryStatus, MailTokenPurpose, NotificationKind } from '#core/vocabulary.ts'
import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely'

type Json = Record<string, unknown>

export interface EventsTables {
  event_subscription: {
    id: string
    org_id: string
    user_id: string | null
    created_by: string | null
    /** The user, or the owner of the key. */
    creator_id: string | null
    event_type: string
    endpoint_url: string
    /** 64 bits, so it is a string. */
    endpoint_key: GeneratedAlways<string>
    filter_config: JSONColumnType<Json>
    headers: JSONColumnType<Record<string, string>>
    description: string | null
    secret: string
    previous_secret: string | null
    previous_secret_until: Date | null
    is_active: Generated<boolean>
    last_delivery_at: Date | null
    last_status: DeliveryStatus | null
    consecutive_failures: Generated<number>
    created_at: Date
    updated_at: Date
  }
  webhook_backlog: {
    org_id: string
    event_seq: number
    subscription_ids: string[]
    created_at: Date
  }
  webhook_delivery: {
    id: Generated<string>
    subscription_id: string
    event_seq: number
    endpoint_key: string
    state: Generated<DeliveryState>
    tries: Generated<number>
    since: Date
    due_at: Date
    lease: string | null
    lease_until: Date | null
    created_at: Date
    ended_at: Date | null
    reason: string | null
  }
  webhook_attempt: {
    id: string
    delivery_id: string
    at: Date
    duration_ms: number
    http_status: number | null
    error: string | null
    response_start: string | null
  }
  alert_rule: {
    id: string
    org_id: string
    user_id: string | null
    created_by: string | null
    name: string
    description: string | null
    collection_id: string | null
    event_types: string[]
    expression: string
    comparison: AlertComparison
    threshold: number
    threshold_upper: number | null
    asset_key: string
    band_mapping: JSONColumnType<Record<string, number>>
    aoi_geometry: JSONColumnType<Json> | null
    notification_channels: string[]
    cooldown_minutes: number
    is_active: Generated<boolean>
    last_triggered_at: Date | null
    last_error: string | null
    last_error_at: Date | null
    created_at: Date
    updated_at: Date
  }
  alert_evaluation: {
    rule_id: string
    org_id: string
    item_id: string
    version: Generated<number>
    tries: Generated<number>
    due_at: Date | null
    lease_until: Date | null
    created_at: Date
  }
  alert_event: {
    id: string
    org_id: string
    rule_id: string
    project_id: string
    item_id: string
    computed_value: number
    triggered_at: Date
    acknowledged_at: Date | null
    acknowledged_by: string | null
  }
  notification: {
    id: string
    user_id: string
    org_id: string
    kind: NotificationKind
    title: string
    body: string
    dedupe_key: string | null
    created_at: Date
    read_at: Date | null
    dismissed_at: Date | null
    mailed_at: Date | null
  }
  mail_token: {
    token_hash: Buffer
    user_id: string
    purpose: MailTokenPurpose
    email: string
    created_at: Date
    expires_at: Date
    used_at: Date | null
  }
}
