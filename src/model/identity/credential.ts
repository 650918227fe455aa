/** What the database knows of a credential, looked up for many requests at once. */
import { sql } from 'kysely'
import type { OrganizationRole } from '#core/principal.ts'
import type { Db } from '#db/tables.ts'

export interface LiveSession {
  userId: string
  isSystemAdmin: boolean
  isClipUser: boolean
  organizationId: string | null
  organizationRole: OrganizationRole | null
}

export interface SessionClaim {
  sessionId: string
  /** The token's own claim: a refresh that switches the organization leaves older tokens where they were. */
  organizationId: string | null
}

/** Null for a session that ended or whose user was switched off. A membership that ended leaves no organization. */
export async function liveSessions(db: Db, claims: readonly SessionClaim[], now: Date): Promise<(LiveSession | null)[]> {
  const { rows } = await sql<{
    ordinal: number
    user_id: string
    is_system_admin: boolean
    is_clip_user: boolean
    org_id: string | null
    role: OrganizationRole | null
  }>`
    select claim.ordinal::int, s.user_id, u.is_system_admin, u.is_clip_user, m.org_id, m.role
    from unnest(${claims.map((claim) => claim.sessionId)}::uuid[], ${claims.map((claim) => claim.organizationId)}::uuid[]) with ordinality as claim (session_id, org_id, ordinal)
    join user_session s on s.id = claim.session_id and s.ended_at is null and s.expires_at > ${now}
    join app_user u on u.id = s.user_id and u.is_active
    left join organization_member m on m.org_id = claim.org_id and m.user_id = s.user_id
  `.execute(db)
  const found = new Map(rows.map((row) => [row.ordinal, row]))
  return claims.map((_, index) => {
    const row = found.get(index + 1)
    return row
      ? {
          userId: row.user_id,
          isSystemAdmin: row.is_system_admin,
          isClipUser: row.is_clip_user,
          organizationId: row.org_id,
          organizationRole: row.role,
        }
      : null
  })
}

export interface LiveKey {
  id: string
  userId: string
  organizationId: string
  organizationRole: OrganizationRole
  permissions: string[]
  explicitScopes: string[]
  rateLimitPerHour: number
}

/** Null for a key that is unknown, revoked, expired, or whose owner left the organization. */
export async function liveKeys(db: Db, secretHashes: readonly Buffer[], now: Date): Promise<(LiveKey | null)[]> {
  const { rows } = await sql<{
    ordinal: number
    id: string
    user_id: string
    org_id: string
    role: OrganizationRole
    permissions: string[]
    explicit_scopes: string[]
    rate_limit: number
  }>`
    select wanted.ordinal::int, k.id, k.user_id, k.org_id, m.role, k.permissions, k.explicit_scopes, coalesce(k.rate_limit_per_hour, o.rate_limit_per_hour) as rate_limit
    from unnest(${secretHashes}::bytea[]) with ordinality as wanted (secret_hash, ordinal)
    join api_key k on k.secret_hash = wanted.secret_hash and k.is_active and (k.expires_at is null or k.expires_at > ${now})
    join organization o on o.id = k.org_id
    join app_user u on u.id = k.user_id and u.is_active
    join organization_member m on m.org_id = k.org_id and m.user_id = k.user_id
  `.execute(db)
  const found = new Map(rows.map((row) => [row.ordinal, row]))
  return secretHashes.map((_, index) => {
    const row = found.get(index + 1)
    if (!row) return null
    return {
      id: row.id,
      userId: row.user_id,
      organizationId: row.org_id,
      organizationRole: row.role,
      permissions: row.permissions,
      explicitScopes: row.explicit_scopes,
      rateLimitPerHour: row.rate_limit,
    }
  })
}
