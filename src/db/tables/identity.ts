import type {
  ChallengePurpose,
  EnterpriseStatus,
  InvitationOutcome,
  InvitedRole,
  Language,
  NotificationMail,
  OrganizationRole,
  ProjectRole,
  Region,
  Units,
  Visibility,
} from '#core/vocabulary.ts'
import type { JWK } from 'jose'
import type { Generated, JSONColumnType } from 'kysely'

type Json = Record<string, unknown>

export interface IdentityTables {
  app_user: {
    id: string
    email: string
    name: string
    password_hash: string
    is_active: Generated<boolean>
    is_system_admin: Generated<boolean>
    is_clip_user: Generated<boolean>
    last_org_id: string | null
    email_confirmed_at: Date | null
    notification_mail: Generated<NotificationMail>
    language: Language | null
    units: Units | null
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
    default_project_id: string | null
    enterprise_status: Generated<EnterpriseStatus>
    plan_id: Generated<string>
    rate_limit_per_hour: Generated<number>
    requires_two_factors: Generated<boolean>
    allows_public_links: Generated<boolean>
    founded_by: string | null
    retention_since: Date
    created_at: Date
    updated_at: Date
    deleted_at: Date | null
  }
  map_backdrop: {
    org_id: string
    user_id: string
    kind: 'map' | 'item' | 'collection'
    target: string
    updated_at: Date
  }
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
    project_id: string | null
    email: string
    role: ProjectRole | null
    organization_role: InvitedRole
    token_hash: Buffer | null
    mailed_token_hash: Buffer | null
    invited_by: string | null
    accepted_by: string | null
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
    created_by_key: string | null
  }
  user_session: {
    id: string
    user_id: string
    org_id: string | null
    user_agent: string | null
    client_address: string | null
    created_at: Date
    expires_at: Date
    ended_at: Date | null
  }
  refresh_token: { token_hash: Buffer; session_id: string; created_at: Date; spent_at: Date | null }
  totp_factor: {
    user_id: string
    secret: string | null
    pending_secret: string | null
    pending_until: Date | null
    created_at: Date
    last_step: number | null
  }
  passkey: {
    id: string
    user_id: string
    name: string
    credential_id: string
    public_key: Buffer
    counter: number
    transports: string[]
    is_synced: boolean
    created_at: Date
    last_used_at: Date | null
  }
  recovery_code: { user_id: string; code_hash: Buffer; created_at: Date; used_at: Date | null }
  sign_in_challenge: {
    token_hash: Buffer
    user_id: string | null
    purpose: ChallengePurpose
    wanted_organization: string | null
    challenge: string | null
    created_at: Date
    expires_at: Date
  }
  email_change: { user_id: string; email: string; token_hash: Buffer | null; created_at: Date; expires_at: Date }
  signing_key: { kid: string; private_jwk: JSONColumnType<JWK>; created_at: Date }
}
