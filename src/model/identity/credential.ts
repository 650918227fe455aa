/** Looks up the state of credentials, for many requests in one query. */
import { sql, type RawBuilder } from 'kysely'
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

const mustSetUpTwoFactors = (userId: RawBuilder<unknown>): RawBuilder<boolean> => sql`(
  exists (
    select from organization_member own join organization o on o.id = own.org_id
    where own.user_id = ${userId} and o.requires_two_factors
  ) and not exists (select from totp_factor f where f.user_id = ${userId} and f.secret is not null)
    and not exists (select from passkey p where p.user_id = ${userId})
)`

/** Null if the session has ended or its user is inactive. The organization is null if the membership has ended. */
export async function liveSessions(db: Db, claims: readonly SessionClaim[], now: Date): Promise<(LiveSession | null)[]> {
  const { rows } = await sql<LiveSession & { ordinal: number }>`
    select claim.ordinal::int, s.user_id as "userId", u.is_system_admin as "isSystemAdmin", u.is_clip_user as "isClipUser",
      m.org_id as "organizationId",
      m.role as "organizationRole", s.expires_at as "expiresAt",
      -- At a provider, a second factor is the provider's business.
      not exists (select from sso_session own where own.session_id = s.id)
        and ${mustSetUpTwoFactors(sql.ref('s.user_id'))} as "mustSetUpTwoFactors"
    from unnest(${claims.map((claim) => claim.sessionId)}::uuid[],
      ${claims.map((claim) => claim.organizationId)}::uuid[]) with ordinality as claim (session_id, org_id, ordinal)
    join user_session s on s.id = claim.session_id and s.ended_at is null and s.expires_at > ${now}
    join app_user u on u.id = s.user_id and u.is_active
    left join organization_member m on m.org_id = claim.org_id and m.user_id = s.user_id
  `.execute(db)
  const byOrdinal = new Map(rows.map(({ ordinal, ...session }) => [ordinal, session]))
  return claims.map((_, index) => byOrdinal.get(index + 1) ?? null)
}

export interface MemberClaim {
  userId: string
  organizationId: string | null
}

/** The user as with a session, without one; null if inactive, or if the membership that is claimed has ended. */
export async function liveMembers(db: Db, claims: readonly MemberClaim[]): Promise<(Omit<LiveSession, 'expiresAt'> | null)[]> {
  const { rows } = await sql<Omit<LiveSession, 'expiresAt'> & { ordinal: number }>`
    select claim.ordinal::int, u.id as "userId", u.is_system_admin as "isSystemAdmin", u.is_clip_user as "isClipUser",
      m.org_id as "organizationId", m.role as "organizationRole",
      -- The signature does not say how its session began.
      not exists (select from sso_identity own where own.user_id = u.id)
        and ${mustSetUpTwoFactors(sql.ref('u.id'))} as "mustSetUpTwoFactors"
    from unnest(${claims.map((claim) => claim.userId)}::uuid[],
      ${claims.map((claim) => claim.organizationId)}::uuid[]) with ordinality as claim (user_id, org_id, ordinal)
    join app_user u on u.id = claim.user_id and u.is_active
    left join organization_member m on m.org_id = claim.org_id and m.user_id = u.id
    where claim.org_id is null or m.org_id is not null
  `.execute(db)
  const byOrdinal = new Map(rows.map(({ ordinal, ...member }) => [ordinal, member]))
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
  return await keysBy(db, sql`unnest(${secretHashes}::bytea[])`, sql`k.secret_hash`, now, secretHashes.length)
}

/** The same by ID, for a signature that a key made. */
export async function liveKeysById(db: Db, ids: readonly string[], now: Date): Promise<(LiveKey | null)[]> {
  return await keysBy(db, sql`unnest(${ids}::uuid[])`, sql`k.id`, now, ids.length)
}

async function keysBy(
  db: Db,
  wanted: RawBuilder<unknown>,
  column: RawBuilder<unknown>,
  now: Date,
  count: number,
): Promise<(LiveKey | null)[]> {
  const { rows } = await sql<LiveKey & { ordinal: number }>`
    select wanted.ordinal::int, k.id, k.user_id as "userId", k.org_id as "organizationId", m.role as "organizationRole", k.permissions,
      k.explicit_scopes as "explicitScopes", coalesce(k.rate_limit_per_hour, o.rate_limit_per_hour) as "rateLimitPerHour",
      k.expires_at as "expiresAt"
    from ${wanted} with ordinality as wanted (value, ordinal)
    join api_key k on ${column} = wanted.value and k.is_active and (k.expires_at is null or k.expires_at > ${now})
    join organization o on o.id = k.org_id
    join app_user u on u.id = k.user_id and u.is_active
    join organization_member m on m.org_id = k.org_id and m.user_id = k.user_id
  `.execute(db)
  const byOrdinal = new Map(rows.map(({ ordinal, ...key }) => [ordinal, key]))
  return Array.from({ length: count }, (_, index) => byOrdinal.get(index + 1) ?? null)
}
