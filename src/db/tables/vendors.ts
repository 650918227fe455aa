import type { VendorAccountStatus } from '#core/vocabulary.ts'

export interface VendorTables {
  vendor_host: {
    host_name: string
    status: 'reachable' | 'unreachable' | null
    since: Date | null
    checked_at: Date | null
    error: string | null
    response_ms: number | null
    next_probe_at: Date
  }
  vendor_token: {
    host_name: string
    name: string
    value: string | null
    version: string | null
    obtained_at: Date | null
    expires_at: Date | null
    renewing_until: Date | null
  }
  vendor_account: {
    id: string
    org_id: string
    host_name: string
    secret: string
    hint: string
    status: VendorAccountStatus
    detail: string | null
    checked_at: Date | null
    created_by: string | null
    created_at: Date
    updated_at: Date
  }
}
