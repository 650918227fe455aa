import type { Meter } from '#core/meters.ts'
import type { Generated } from 'kysely'

export interface PlansTables {
  organization_plan: { org_id: string; plan_id: string; started_at: Date; changed_by: string | null; invocation_id: string | null }
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
}
