import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { checksumBase62, newId, randomBase62 } from '#core/ids.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

/** `svc_` + 8 characters + `_` + 34 random characters (202 bits) + a 6-character checksum. */
const FORMAT = /^svc_[0-9A-Za-z]{8}_[0-9A-Za-z]{40}$/
const PREFIX_LENGTH = 12
const CHECKSUM_LENGTH = 6

export function newSecret(): string {
  const body = `svc_${randomBase62(8)}_${randomBase62(34)}`
  return body + checksumBase62(body)
}

/** Rejects malformed keys without a database query. */
export function isWellFormed(secret: string): boolean {
  return FORMAT.test(secret) && checksumBase62(secret.slice(0, -CHECKSUM_LENGTH)) === secret.slice(-CHECKSUM_LENGTH)
}

/** The secret has enough entropy that a fast hash is safe. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'user_id as userId',
  'name',
  'prefix',
  'permissions',
  'explicit_scopes as explicitScopes',
  'is_active as isActive',
  'expires_at as expiresAt',
  'created_at as createdAt',
  'last_used_at as lastUsedAt',
  'total_requests as totalRequests',
] as const

/** A key without its own rate limit has the current limit of its organization. */
const EFFECTIVE_LIMIT = sql<number>`coalesce(api_key.rate_limit_per_hour,
  (select o.rate_limit_per_hour from organization o where o.id = api_key.org_id))`.as('rateLimitPerHour')

const SHOWN = [...COLUMNS, EFFECTIVE_LIMIT] as const

export type ApiKey = Row<'api_key', typeof COLUMNS> & { rateLimitPerHour: number }

interface NewApiKey {
  organizationId: string
  userId: string
  name: string
  permissions: readonly string[]
  rateLimitPerHour: number | null
  expiresAt: Date | null
  /** The key that created this one; null if a signed-in user did. */
  madeByKeyId: string | null
  now: Date
}

export async function insert(tx: Tx, key: NewApiKey): Promise<{ key: ApiKey; secret: string }> {
  const secret = newSecret()
  const created = await tx
    .insertInto('api_key')
    .values({
      id: newId(),
      org_id: key.organizationId,
      user_id: key.userId,
      name: key.name,
      prefix: secret.slice(0, PREFIX_LENGTH),
      secret_hash: hashSecret(secret),
      permissions: [...key.permissions],
      rate_limit_per_hour: key.rateLimitPerHour,
      expires_at: key.expiresAt,
      created_by_key: key.madeByKeyId,
      created_at: key.now,
    })
    .returning(SHOWN)
    .executeTakeFirstOrThrow()
  return { key: created, secret }
}

export async function list(db: Db, organizationId: string): Promise<ApiKey[]> {
  return await db
    .selectFrom('api_key')
    .select(SHOWN)
    .where('org_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

export async function find(db: Db, organizationId: string | null, id: string): Promise<ApiKey | null> {
  const row = await db
    .selectFrom('api_key')
    .select(SHOWN)
    .where('id', '=', id)
    .$if(organizationId !== null, (query) => query.where('org_id', '=', organizationId!))
    .executeTakeFirst()
  return row ?? null
}

/** Also revokes the keys that it created, directly or indirectly. Returns false if the key was no longer active. */
export async function revoke(tx: Tx, organizationId: string, id: string, now: Date): Promise<boolean> {
  const active = await tx
    .selectFrom('api_key')
    .select('id')
    .where('id', '=', id)
    .where('org_id', '=', organizationId)
    .where('is_active', '=', true)
    .forUpdate()
    .executeTakeFirst()
  if (!active) return false
  // Repeats for keys that were being created meanwhile: their creator's row is locked until they exist. A revoked key creates none.
  for (let revoked = 1; revoked > 0;) {
    const { rows } = await sql`
      with recursive line as (select ${id}::uuid as id union select k.id from api_key k join line on k.created_by_key = line.id)
      update api_key k set is_active = false, revoked_at = ${now} from line where k.id = line.id and k.is_active returning k.id
    `.execute(tx)
    revoked = rows.length
  }
  return true
}

/** All keys of a user in one organization, of every user in it, or of a user in every organization. */
export async function revokeAllOf(tx: Tx, organizationId: string | null, userId: string | null, now: Date): Promise<void> {
  await tx
    .updateTable('api_key')
    .set({ is_active: false, revoked_at: now })
    .$if(organizationId !== null, (query) => query.where('org_id', '=', organizationId!))
    .$if(userId !== null, (query) => query.where('user_id', '=', userId!))
    .where('is_active', '=', true)
    .execute()
}

/** Locks a key that creates another, so that revoking it also reaches the new key. Returns its limits, or null if it was revoked. */
export async function lockMaker(tx: Tx, id: string): Promise<{ rateLimitPerHour: number; expiresAt: Date | null } | null> {
  const { rows } = await sql<{ rateLimitPerHour: number; expiresAt: Date | null }>`
    select coalesce(k.rate_limit_per_hour, o.rate_limit_per_hour) as "rateLimitPerHour", k.expires_at as "expiresAt"
    from api_key k join organization o on o.id = k.org_id where k.id = ${id} and k.is_active for share of k
  `.execute(tx)
  return rows[0] ?? null
}

export async function setExplicitScopes(tx: Tx, id: string, scopes: readonly string[]): Promise<ApiKey | null> {
  const row = await tx
    .updateTable('api_key')
    .set({ explicit_scopes: [...scopes] })
    .where('id', '=', id)
    .where('is_active', '=', true)
    .returning(SHOWN)
    .executeTakeFirst()
  return row ?? null
}

export interface KeyUse {
  keyId: string
  requests: number
  lastUsedAt: Date
}

/** Adds what processes have counted since their last flush. */
export async function recordUse(db: Db, uses: readonly KeyUse[]): Promise<void> {
  await sql`
    update api_key k set total_requests = k.total_requests + u.requests, last_used_at = greatest(k.last_used_at, u.last_used_at)
    from unnest(${uses.map((use) => use.keyId)}::uuid[], ${uses.map((use) => use.requests)}::bigint[],
      ${uses.map((use) => use.lastUsedAt)}::timestamptz[]) as u (id, requests, last_used_at)
    where k.id = u.id
  `.execute(db)
}
