/** Looks up the state of credentials, for many requests in one query. */
import { sql } from 'kysely'
import type { OrganizationRole } from '#core/vocabulary.ts'
import type { Db } from '#db/tables.ts'

export interface LiveSession {
  userId: string
  isSystemAdmin: boolean
  isClipUser: boolean
  organizationId: string | null
  organizationRole: OrganizationRole | null
  /** An organization of the user requires two factors, and the account has only one. */
  mustSetUpTwoFactors: boolean
  expiresAt: Date
}

export interface SessionClaim {
  sessionId: string
  /** From the token: a refresh that switches the organization does not affect tokens issued before it. */
  organizationId: string | null
}

/** Null if the session has ended or its user is inactive. The organization is null if the membership has ended. */
export async function liveSessions(db: Db, claims: readonly SessionClaim[], now: Date): Promise<(LiveSession | null)[]> {
  const { rows } = await sql<LiveSession & { ordinal: number }>`
    select claim.ordinal::int, s.user_id as "userId", u.is_system_admin as "isSystemAdmin", u.is_clip_user as "isClipUser",
      m.org_id as "organizationId",
      m.role as "organizationRole", s.expires_at as "expiresAt",
      exists (
        select from organization_member own join organization o on o.id = own.org_id
        where own.user_id = s.user_id and o.requires_two_factors
      ) and not exists (select from totp_factor f where f.user_id = s.user_id and f.secret is not null)
        and not exists (select from passkey p where p.user_id = s.user_id) as "mustSetUpTwoFactors"
    from unnest(${claims.map((claim) => claim.sessionId)}::uuid[],
      ${claims.map((claim) => claim.organizationId)}::uuid[]) with ordinality as claim (session_id, org_id, ordinal)
    join user_session s on s.id = claim.session_id and s.ended_at is null and s.expires_at > ${now}
    join app_user u on u.id = s.user_id and u.is_active
    left join organization_member m on m.org_id = claim.org_id and m.user_id = s.user_id
  `.execute(db)
  const byOrdinal = new Map(rows.map(({ ordinal, ...session }) => [ordinal, session]))
  return claims.map((_, index) => byOrdinal.get(index + 1) ?? null)
}

export interface LiveKey {
  id: string
  userId: string
  organizationId: string
  organizationRole: OrganizationRole
  permissions: string[]
  explicitScopes: string[]
  rateLimitPerHour: number
  /** Null if the key never expires. */
  expiresAt: Date | null
}

/** Null for a key that is unknown, revoked or expired, or whose owner left the organization. */
export async function liveKeys(db: Db, secretHashes: readonly Buffer[], now: Date): Promise<(LiveKey | null)[]> {
  const { rows } = await sql<LiveKey & { ordinal: number }>`
    select wanted.ordinal::int, k.id, k.user_id as "userId", k.org_id as "organizationId", m.role as "organizationRole", k.permissions,
      k.explicit_scopes as "explicitScopes", coalesce(k.rate_limit_per_hour, o.rate_limit_per_hour) as "rateLimitPerHour",
      k.expires_at as "expiresAt"
    from unnest(${secretHashes}::bytea[]) with ordinality as wanted (secret_hash, ordinal)
    join api_key k on k.secret_hash = wanted.secret_hash and k.is_active and (k.expires_at is null or k.expires_at > ${now})
    join organization o on o.id = k.org_id
    join app_user u on u.id = k.user_id and u.is_active
    join organization_member m on m.org_id = k.org_id and m.user_id = k.user_id
  `.execute(db)
  const byOrdinal = new Map(rows.map(({ ordinal, ...key }) => [ordinal, key]))
  return secretHashes.map((_, index) => byOrdinal.get(index + 1) ?? null)
}
