import { sql } from 'kysely'
import { createHash, randomBytes } from 'node:crypto'
import { DAY_MS } from '#core/time.ts'
import { newId } from '#core/ids.ts'
import { deleteInBatches } from '#db/in-batches.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

const SESSION_DAYS = 30
/** For a browser that lost the response of its renewal, because its user reloaded the page twice. */
const REPEAT_WINDOW_MS = 30_000

export interface Session {
  id: string
  userId: string
  organizationId: string | null
}

/** Where a session is used: what its client says about itself, and its address. */
export interface Device {
  userAgent: string | null
  address: string
}

const MAX_USER_AGENT_LENGTH = 400

/** Nothing if it is not known: what was known before stays. */
const deviceColumns = (device: Device | undefined) =>
  device ? { user_agent: device.userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null, client_address: device.address } : {}

export interface Issued {
  session: Session
  /** Returned to the caller once; only its hash is stored. */
  refreshToken: string
}

export async function open(tx: Tx, userId: string, organizationId: string | null, now: Date, device?: Device): Promise<Issued> {
  const session = { id: newId(), userId, organizationId }
  await tx
    .insertInto('user_session')
    .values({
      id: session.id,
      user_id: userId,
      org_id: organizationId,
      created_at: now,
      expires_at: expiry(now),
      ...deviceColumns(device),
    })
    .execute()
  await tx.updateTable('app_user').set({ last_org_id: organizationId }).where('id', '=', userId).execute()
  return { session, refreshToken: await issue(tx, session.id, now) }
}

type Refreshed = { outcome: 'refreshed'; issued: Issued } | { outcome: 'refused' }

/**
 * Exchanges a refresh token for a new one. A token that was used before was stolen or replayed, so the whole session ends, which
 * also signs out the holder of the newer token. The exception is an interrupted renewal of a browser (`isBrowser`): see `mayRepeat`.
 */
export async function refresh(
  tx: Tx,
  refreshToken: string,
  choose: (current: Session) => Promise<string | null>,
  { now, isBrowser, device }: { now: Date; isBrowser: boolean; device?: Device | undefined },
): Promise<Refreshed> {
  const row = await tx
    .selectFrom('refresh_token as r')
    .innerJoin('user_session as s', 's.id', 'r.session_id')
    .innerJoin('app_user as u', 'u.id', 's.user_id')
    .select([
      'r.token_hash as tokenHash',
      'r.spent_at as spentAt',
      's.id',
      's.user_id as userId',
      's.org_id as organizationId',
      's.expires_at as expiresAt',
      's.ended_at as endedAt',
      'u.is_active as isActive',
    ])
    .where('r.token_hash', '=', hash(refreshToken))
    .forUpdate(['r', 's'])
    .executeTakeFirst()
  if (!row || row.endedAt || row.expiresAt <= now || !row.isActive) return { outcome: 'refused' }
  if (row.spentAt && !(isBrowser && (await mayRepeat(tx, row.id, row.spentAt, now)))) {
    await end(tx, row.id, now)
    return { outcome: 'refused' }
  }
  const organizationId = await choose({ id: row.id, userId: row.userId, organizationId: row.organizationId })
  if (!row.spentAt) await spend(tx, row.id, row.tokenHash, now)
  await tx
    .updateTable('user_session')
    .set({ org_id: organizationId, expires_at: expiry(now), ...deviceColumns(device) })
    .where('id', '=', row.id)
    .execute()
  await tx.updateTable('app_user').set({ last_org_id: organizationId }).where('id', '=', row.userId).execute()
  const session = { id: row.id, userId: row.userId, organizationId }
  return { outcome: 'refreshed', issued: { session, refreshToken: await issue(tx, row.id, now) } }
}

/**
 * Whether a used token can be used once more: for a short time after its first use, and only while none of the tokens that it was
 * exchanged for has been used. Only for tokens in the cookie, which no script and no other site can read or send: programs store the
 * new token before they use it. Theft is still detected: of these tokens one continues the session, and any other ends it.
 */
async function mayRepeat(tx: Tx, sessionId: string, spentAt: Date, now: Date): Promise<boolean> {
  if (now.getTime() - spentAt.getTime() >= REPEAT_WINDOW_MS) return false
  const later = await tx
    .selectFrom('refresh_token')
    .select('session_id')
    .where('session_id', '=', sessionId)
    .where('spent_at', '>', spentAt)
    .limit(1)
    .executeTakeFirst()
  return later === undefined
}

/** Marks a token as used. Other tokens of the same exchange are marked as used when they were issued, so that none can be repeated. */
async function spend(tx: Tx, sessionId: string, tokenHash: Buffer, now: Date): Promise<void> {
  await tx.updateTable('refresh_token').set({ spent_at: now }).where('token_hash', '=', tokenHash).execute()
  await tx
    .updateTable('refresh_token')
    .set(({ ref }) => ({ spent_at: ref('created_at') }))
    .where('session_id', '=', sessionId)
    .where('spent_at', 'is', null)
    .execute()
}

export async function findByToken(db: Db, refreshToken: string): Promise<string | null> {
  const row = await db
    .selectFrom('refresh_token')
    .select('session_id as id')
    .where('token_hash', '=', hash(refreshToken))
    .executeTakeFirst()
  return row?.id ?? null
}

export async function endByToken(db: Db, refreshToken: string, now: Date): Promise<void> {
  const id = await findByToken(db, refreshToken)
  if (id) await end(db, id, now)
}

async function end(db: Db, sessionId: string, now: Date): Promise<void> {
  await db.updateTable('user_session').set({ ended_at: now }).where('id', '=', sessionId).where('ended_at', 'is', null).execute()
}

export async function endOthers(db: Db, userId: string, keptId: string, now: Date): Promise<void> {
  await db
    .updateTable('user_session')
    .set({ ended_at: now })
    .where('user_id', '=', userId)
    .where('id', '<>', keptId)
    .where('ended_at', 'is', null)
    .execute()
}

/** Sessions of one user, or of all users, that act for the organization. */
export async function endAllFor(db: Db, organizationId: string, userId: string | null, now: Date): Promise<void> {
  await db
    .updateTable('user_session')
    .set({ ended_at: now })
    .where('org_id', '=', organizationId)
    .$if(userId !== null, (query) => query.where('user_id', '=', userId!))
    .where('ended_at', 'is', null)
    .execute()
  await db
    .updateTable('app_user')
    .set({ last_org_id: null })
    .where('last_org_id', '=', organizationId)
    .$if(userId !== null, (query) => query.where('id', '=', userId!))
    .execute()
}

const LISTED = [
  'id',
  'org_id as organizationId',
  'user_agent as userAgent',
  'client_address as address',
  'created_at as createdAt',
  'expires_at as expiresAt',
] as const

type LiveSession = Row<'user_session', typeof LISTED> & { lastUsedAt: Date }

/** Newest first. A session was last used when it was last extended. */
export async function listLive(db: Db, userId: string, limit: number, now: Date): Promise<LiveSession[]> {
  const rows = await db
    .selectFrom('user_session')
    .select(LISTED)
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('expires_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...row, lastUsedAt: new Date(row.expiresAt.getTime() - SESSION_DAYS * DAY_MS) }))
}

/** Returns whether the user had this session. */
export async function endOne(db: Db, userId: string, id: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('user_session')
    .set({ ended_at: now })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

export async function endAllOfUser(db: Db, userId: string, now: Date): Promise<void> {
  await db.updateTable('user_session').set({ ended_at: now }).where('user_id', '=', userId).where('ended_at', 'is', null).execute()
}

/** Deletes sessions that ended or expired before a time, with their tokens. */
export async function sweep(db: Db, before: Date): Promise<void> {
  await deleteInBatches(db, {
    table: 'user_session',
    key: ['id'],
    where: sql<boolean>`(expires_at < ${before} or ended_at < ${before})`,
  })
}

async function issue(tx: Tx, sessionId: string, now: Date): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await tx
    .insertInto('refresh_token')
    .values({ token_hash: hash(token), session_id: sessionId, created_at: now })
    .execute()
  return token
}

function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

function expiry(now: Date): Date {
  return new Date(now.getTime() + SESSION_DAYS * DAY_MS)
}
