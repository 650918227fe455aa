import type { InvitedRole, SsoStatus } from '#core/vocabulary.ts'
import type { RoleRule } from '#core/role-rules.ts'
import type { JSONColumnType } from 'kysely'

export interface SsoTables {
  sso_connection: {
    org_id: string
    issuer: string
    client_id: string
    secret: string | null
    name: string
    scopes: string
    role_claim: string | null
    role_rules: JSONColumnType<RoleRule[]>
    default_role: InvitedRole | null
    session_hours: number
    status: SsoStatus
    detail: string | null
    checked_at: Date
    created_by: string | null
    created_at: Date
    updated_at: Date
  }
  sso_rules: { org_id: string; is_required: boolean; domain_role: InvitedRole | null; updated_at: Date }
  sso_domain: {
    org_id: string
    domain: string
    token: string
    verified_at: Date | null
    checked_at: Date | null
    created_at: Date
  }
  sso_identity: {
    org_id: string | null
    issuer: string
    subject: string
    user_id: string
    created_at: Date
    last_used_at: Date
  }
  sso_session: { session_id: string; org_id: string | null; signed_in_at: Date; id_token: string | null }
}
