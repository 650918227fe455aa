/**
 * Idempotency keys: claims on `(owner, path, key)`. A claim is taken before any work and carries a lease. The effect and the stored
 * response commit together, fenced by that lease, so an effect happens once even if a paused process resumes after its lease expired.
 */
import { HOUR_MS } from '#core/time.ts'
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { deleteInBatches } from '#db/in-batches.ts'
import type { Db, Tx } from '#db/tables.ts'

/** Renewed while the work runs; a claim outlives a killed process by this time. */
export const LEASE_SECONDS = 10
/** How long a response is replayed and the hash of its body is kept. */
const REPLAY_HOURS = 24

/** Prefix of keys whose claims belong to one caller; their responses are encrypted. */
export const SEALED_PREFIX = 'sealed:'
/** Beyond this size, an organization's oldest encrypted responses are deleted early, so that keys cannot fill the database. */
const MAX_SEALED_BYTES_PER_OWNER = 64 * 1024 * 1024
/** Size of a claim without its response. */
const CLAIM_BYTES = 512

export interface ClaimKey {
  ownerId: string
  path: string
  key: string
}

export interface StoredResponse {
  status: number
  contentType: string
  body: Buffer
}

export type Claim =
  | { outcome: 'claimed'; lease: string }
  | { outcome: 'replay'; response: StoredResponse }
  | { outcome: 'other-body' }
  | { outcome: 'running' }

export async function claim(db: Db, key: ClaimKey, bodyHash: Buffer, invocationId: string, now: Date): Promise<Claim> {
  const lease = newId()
  const expiresAt = new Date(now.getTime() + REPLAY_HOURS * HOUR_MS)
  // Leases use real time, measured by the database that all processes share; expiry uses the platform's clock.
  const claimed = await sql<{ lease: string }>`
    insert into idempotency_claim as c (owner_id, path, key, body_hash, state, lease, lease_until, invocation_id, expires_at)
    values (${key.ownerId}, ${key.path}, ${key.key}, ${bodyHash}, 'running', ${lease},
      clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}), ${invocationId}, ${expiresAt})
    on conflict (owner_id, path, key) do update set
      body_hash = excluded.body_hash, state = 'running', lease = excluded.lease, lease_until = excluded.lease_until,
      invocation_id = excluded.invocation_id, expires_at = excluded.expires_at,
      response_status = null, response_type = null, response_body = null, is_final = true
    where (c.state <> 'running' or c.lease_until < clock_timestamp())
      and ((c.state <> 'done' and c.body_hash = excluded.body_hash) or c.expires_at <= ${now})
    returning lease
  `.execute(db)
  if (claimed.rows.length === 1) return { outcome: 'claimed', lease }

  const row = await db
    .selectFrom('idempotency_claim')
    .select(['body_hash as bodyHash', 'state', 'response_status as status', 'response_type as contentType', 'response_body as body'])
    .select(sql<boolean>`not is_final and lease_until >= clock_timestamp()`.as('isWaiting'))
    .where('owner_id', '=', key.ownerId)
    .where('path', '=', key.path)
    .where('key', '=', key.key)
    .executeTakeFirst()
  if (!row) return { outcome: 'running' } // Swept between the two statements; the next attempt claims it.
  if (!row.bodyHash.equals(bodyHash)) return { outcome: 'other-body' }
  // Its holder may still replace the response. If the holder crashed, nobody has received anything but the stored response.
  if (row.state !== 'done' || row.isWaiting) return { outcome: 'running' }
  return { outcome: 'replay', response: { status: row.status!, contentType: row.contentType!, body: row.body! } }
}

/** Stores the response in the transaction of the effect. Returns false if the lease was lost; the effect must then not commit. */
export async function complete(tx: Tx, key: ClaimKey, lease: string, response: StoredResponse, isFinal: boolean): Promise<boolean> {
  const result = await tx
    .updateTable('idempotency_claim')
    .set({
      state: 'done',
      response_status: response.status,
      response_type: response.contentType,
      response_body: response.body,
      is_final: isFinal,
    })
    .where('owner_id', '=', key.ownerId)
    .where('path', '=', key.path)
    .where('key', '=', key.key)
    .where('lease', '=', lease)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Replaces a response that was not final. Returns false if the lease was lost: others may have received the first one, so it stays. */
export async function finish(db: Db, key: ClaimKey, lease: string, response: StoredResponse): Promise<boolean> {
  const result = await db
    .updateTable('idempotency_claim')
    .set({ response_status: response.status, response_type: response.contentType, response_body: response.body, is_final: true })
    .where('owner_id', '=', key.ownerId)
    .where('path', '=', key.path)
    .where('key', '=', key.key)
    .where('lease', '=', lease)
    .where('is_final', '=', false)
    .where(sql<boolean>`lease_until >= clock_timestamp()`)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

/** Releases a claim whose work failed. The body hash stays, so that a different body is still rejected. */
export async function release(db: Db, key: ClaimKey, lease: string): Promise<void> {
  await db
    .updateTable('idempotency_claim')
    .set({ state: 'free' })
    .where('owner_id', '=', key.ownerId)
    .where('path', '=', key.path)
    .where('key', '=', key.key)
    .where('lease', '=', lease)
    .where('state', '=', 'running')
    .execute()
}

/** By key, which is indexed: the table also contains a day's stored responses. */
export async function renew(db: Db, claims: readonly { key: ClaimKey; lease: string }[]): Promise<void> {
  await sql`
    update idempotency_claim c set lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    from unnest(${claims.map(({ key }) => key.ownerId)}::uuid[], ${claims.map(({ key }) => key.path)}::text[],
      ${claims.map(({ key }) => key.key)}::text[], ${claims.map(({ lease }) => lease)}::uuid[]) as held (owner_id, path, key, lease)
    where c.owner_id = held.owner_id and c.path = held.path and c.key = held.key and c.lease = held.lease
      and (c.state = 'running' or not c.is_final)
  `.execute(db)
}

export async function sweep(db: Db, now: Date, maxSealedBytes = MAX_SEALED_BYTES_PER_OWNER): Promise<void> {
  const isOver = sql<boolean>`(c.state <> 'running' or c.lease_until < clock_timestamp())`
  await deleteInBatches(db, {
    table: 'idempotency_claim',
    key: ['owner_id', 'path', 'key'],
    where: sql<boolean>`expires_at < ${now} and (state <> 'running' or lease_until < clock_timestamp())`,
  })
  await sql`
    delete from idempotency_claim c using (
      select owner_id, path, key,
        sum(${CLAIM_BYTES} + coalesce(octet_length(response_body), 0))
          over (partition by owner_id order by expires_at desc, path, key) as bytes
      from idempotency_claim where starts_with(key, ${SEALED_PREFIX})
    ) sized
    where c.owner_id = sized.owner_id and c.path = sized.path and c.key = sized.key and sized.bytes > ${maxSealedBytes} and ${isOver}
  `.execute(db)
}
