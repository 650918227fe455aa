/** Attempts to charge or hold a card. Each is stored before the processor is called, and its intent before it is confirmed. */
import { sql } from 'kysely'
import { DAY_MS } from '#core/time.ts'
import { newId } from '#core/ids.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { AttemptStatus } from '#db/tables/money.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'kind',
  'aud_cents as cents',
  'credits',
  'bonus_credits as bonusCredits',
  'status',
  'payment_intent_id as paymentIntentId',
  'confirm_count as confirmCount',
  'failure',
  'reservation_id as reservationId',
  'user_id as userId',
  'created_at as createdAt',
] as const

export type Attempt = Row<'payment_attempt', typeof COLUMNS>

export interface NewAttempt extends Pick<Attempt, 'organizationId' | 'kind' | 'cents' | 'credits' | 'bonusCredits' | 'userId'> {
  /** The caller's idempotency key, or its equivalent. */
  requestKey: string
  invocationId: string
}

const attempts = (db: Db) => db.selectFrom('payment_attempt').select(COLUMNS)

/** How long an idempotency key identifies the same request. */
const KEY_LIFETIME_MS = DAY_MS

/** The attempt of this request: an earlier one with the same idempotency key, or a new one. */
export async function open(db: Db, request: NewAttempt, now: Date): Promise<Attempt> {
  const { organizationId, kind, requestKey, cents } = request
  const same = attempts(db).where('org_id', '=', organizationId).where('kind', '=', kind).where('request_key', '=', requestKey)
  const existing = await same.executeTakeFirst()
  const isOld = existing && (now.getTime() - existing.createdAt.getTime() >= KEY_LIFETIME_MS || existing.cents !== cents)
  if (existing && !isOld) return existing
  if (isOld) await freeKey(db, existing.id, requestKey)
  await db
    .insertInto('payment_attempt')
    .values({
      id: newId(),
      org_id: organizationId,
      kind,
      request_key: requestKey,
      aud_cents: cents,
      credits: request.credits,
      bonus_credits: request.bonusCredits,
      status: 'created',
      user_id: request.userId,
      invocation_id: request.invocationId,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return await same.executeTakeFirstOrThrow()
}

/** Frees the key for another request; the attempt keeps one that no caller can send. */
async function freeKey(db: Db, id: string, requestKey: string): Promise<void> {
  await db
    .updateTable('payment_attempt')
    .set({ request_key: sql<string>`request_key || '#' || id` })
    .where('id', '=', id)
    .where('request_key', '=', requestKey)
    .execute()
}

/** Gives an attempt its intent, or another after the former was cancelled. Returns false if a concurrent call changed the attempt. */
export async function bindIntent(db: Db, attempt: Attempt, intentId: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('payment_attempt')
    .set({ payment_intent_id: intentId, status: 'pending', failure: null, updated_at: now })
    .where('id', '=', attempt.id)
    .where('status', 'in', ['created', 'pending', 'failed', 'voided'])
    .where('reservation_id', 'is', null)
    .where('payment_intent_id', 'is not distinct from', attempt.paymentIntentId)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Counts an attempt to charge; the number is part of its idempotency key at the processor. */
export async function countConfirm(db: Db, id: string, now: Date): Promise<number> {
  const { count } = await db
    .updateTable('payment_attempt')
    .set({
      confirm_count: sql<number>`confirm_count + 1`,
      status: sql<AttemptStatus>`case when status = 'failed' then 'pending' else status end`,
      updated_at: now,
    })
    .where('id', '=', id)
    .returning('confirm_count as count')
    .executeTakeFirstOrThrow()
  return count
}

export async function lock(tx: Tx, id: string): Promise<Attempt> {
  return await attempts(tx).where('id', '=', id).forUpdate().executeTakeFirstOrThrow()
}

export async function findByIntent(db: Db, intentId: string): Promise<Attempt | null> {
  return (await attempts(db).where('payment_intent_id', '=', intentId).executeTakeFirst()) ?? null
}

export async function findHold(db: Db, reservationId: string): Promise<Attempt | null> {
  const hold = await attempts(db).where('reservation_id', '=', reservationId).where('status', 'in', ['held', 'captured']).executeTakeFirst()
  return hold ?? null
}

interface AttemptMove {
  from: readonly AttemptStatus[]
  to: AttemptStatus
  failure?: string | null
  reservationId?: string
  capturedCents?: number
}

/** Returns false if the current state does not allow the move. */
export async function move(
  db: Db,
  id: string,
  { from, to, failure, reservationId, capturedCents }: AttemptMove,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('payment_attempt')
    .set({
      status: to,
      updated_at: now,
      ...(failure === undefined ? {} : { failure }),
      ...(reservationId ? { reservation_id: reservationId } : {}),
      ...(capturedCents === undefined ? {} : { captured_cents: capturedCents }),
    })
    .where('id', '=', id)
    .where('status', 'in', [...from])
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Unfinished attempts that were not touched for a while, oldest first. */
export async function stale(db: Db, before: Date, limit: number): Promise<Attempt[]> {
  return await attempts(db)
    .where('status', 'in', ['created', 'pending', 'authorized'])
    .where('updated_at', '<', before)
    .orderBy('updated_at')
    .limit(limit)
    .execute()
}

export async function touch(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('payment_attempt').set({ updated_at: now }).where('id', '=', id).execute()
}

/** Holds that will lapse at the processor unless renewed. */
export async function agingHolds(db: Db, before: Date, limit: number): Promise<Attempt[]> {
  return await attempts(db).where('status', '=', 'held').where('created_at', '<', before).orderBy('created_at').limit(limit).execute()
}

/** The sum that automatic top-ups have charged since a time, or may still charge. */
export async function automaticCentsSince(db: Db, organizationId: string, since: Date): Promise<number> {
  const { cents } = await db
    .selectFrom('payment_attempt')
    .select(sql<number>`coalesce(sum(aud_cents), 0)::bigint`.as('cents'))
    .where('org_id', '=', organizationId)
    .where('kind', '=', 'auto_topup')
    .where('status', '<>', 'failed')
    .where('created_at', '>=', since)
    .executeTakeFirstOrThrow()
  return cents
}
