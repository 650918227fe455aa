/**
 * The ledger: append-only transfers between the accounts of an organization, in whole credits. Its own accounts are
 * `available` and `reserved`, whose balances stand in the wallet; the others (`purchased`, `granted`, `bonus`, `adjusted`,
 * `captured`) are where credits come from and go to. Each movement is one statement: the wallet's row is changed if and
 * only if it can bear it, and the transfer tells the balances that this left behind. Zero rows mean that nothing happened.
 * Being one statement, a movement is a transaction by itself where nothing else has to commit with it.
 */
import { sql, type RawBuilder } from 'kysely'
import { MAX_CREDITS } from '#core/money.ts'
import { newId } from '#core/ids.ts'
import { problem } from '#core/problem.ts'
import type { BillingMode, Db, SpendLine, TransferType, Tx } from '#db/tables.ts'

export interface Reference {
  type: string
  id: string
}

/** Why credits move: every transfer names its invocation and what it is for. */
export interface Cause {
  organizationId: string
  invocationId: string
  now: Date
  reference: Reference | null
  description?: string | null
}

/** Balances after a movement, and what they were before it. */
export interface Balances {
  available: number
  reserved: number
  availableBefore: number
  /** Below this the balance counts as low. */
  threshold: number
  autoTopup: boolean
}

/** Where automatic top-up is not set up, a balance below this is low. */
const STANDARD_THRESHOLD = 1_000

const AFTER = sql`wallet.available, wallet.reserved, coalesce(wallet.auto_threshold, ${sql.lit(STANDARD_THRESHOLD)}::bigint) as threshold, wallet.auto_enabled as "autoTopup"`

type After = Omit<Balances, 'availableBefore'>

/** Gives credits. Null: this payment intent has its credits already. */
export async function credit(
  tx: Tx,
  cause: Cause,
  gifts: readonly { type: 'grant' | 'topup' | 'bonus' | 'adjustment'; credits: number }[],
  paymentIntentId: string | null = null,
): Promise<Balances | null> {
  if (paymentIntentId && (await isPaid(tx, paymentIntentId))) return null
  let before: number | null = null
  let after: After | undefined
  for (const { type, credits } of gifts.filter((gift) => gift.credits > 0)) {
    const source = { grant: 'granted', topup: 'purchased', bonus: 'bonus', adjustment: 'adjusted' }[type]
    const { rows } = await sql<After>`
      with w as (
        insert into wallet (org_id, available, is_funded) values (${cause.organizationId}, ${credits}, true)
        on conflict (org_id) do update set available = wallet.available + excluded.available, is_funded = true
        where wallet.available + wallet.reserved + excluded.available <= ${MAX_CREDITS}
        returning ${AFTER}
      ), t as (${transfer(cause, { type, source, target: 'available', credits, paymentIntentId })} from w)
      select * from w`.execute(tx)
    after = rows[0]
    if (!after) throw problem('bad-request', 'A wallet cannot hold that many credits')
    before ??= after.available - credits
  }
  return after ? { ...after, availableBefore: before! } : await balances(tx, cause.organizationId)
}

/** Serializes with whoever is paying the same intent in at this moment: they hold the wallet's row until they commit. */
async function isPaid(tx: Tx, paymentIntentId: string): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${paymentIntentId}, 0))`.execute(tx)
  return (
    (await tx.selectFrom('ledger_transfer').select('seq').where('payment_intent_id', '=', paymentIntentId).executeTakeFirst()) !== undefined
  )
}

/** Takes credits that were not reserved before: a fee (`capture`) or a correction. Null: there are not so many. */
export async function debit(tx: Tx, cause: Cause, type: 'capture' | 'adjustment', credits: number): Promise<Balances | null> {
  const { rows } = await sql<After>`
    with w as (
      update wallet set available = available - ${credits} where org_id = ${cause.organizationId} and available >= ${credits} returning ${AFTER}
    ), t as (${transfer(cause, { type, source: 'available', target: type === 'capture' ? 'captured' : 'adjusted', credits })} from w)
    select * from w`.execute(tx)
  return rows[0] ? { ...rows[0], availableBefore: rows[0].available + credits } : null
}

export interface NewReservation {
  id: string
  mode: BillingMode
  credits: number
  userId: string | null
  apiKeyId: string | null
  countsForCaps: boolean
  lines: readonly SpendLine[]
  deadlineAt: Date | null
  approvalId: string | null
}

/** Moves credits aside for something that is under way. Null: there are not so many. */
export async function reserve(tx: Db, cause: Cause & { reference: Reference }, made: NewReservation): Promise<Balances | null> {
  const { rows } = await sql<After>`
    with w as (
      update wallet set available = available - ${made.credits}, reserved = reserved + ${made.credits}
      where org_id = ${cause.organizationId} and available >= ${made.credits}
      returning ${AFTER}
    ), r as (${insertReservation(cause, made)} from w)
    , t as (${transfer(cause, { type: 'reservation', source: 'available', target: 'reserved', credits: made.credits, reservationId: made.id })} from w)
    select * from w`.execute(tx)
  return rows[0] ? { ...rows[0], availableBefore: rows[0].available + made.credits } : null
}

/** A reservation that no credits stand behind: a hold on a card, an accrual, or something that costs nothing. */
export async function note(tx: Tx, cause: Cause & { reference: Reference }, made: NewReservation): Promise<void> {
  await sql`${insertReservation(cause, made)} from (select) as nothing`.execute(tx)
}

function insertReservation(
  { organizationId, invocationId, now, reference }: Cause & { reference: Reference },
  made: NewReservation,
): RawBuilder<unknown> {
  return sql`
    insert into reservation (id, org_id, user_id, api_key_id, mode, reference_type, reference_id, credits, counts_for_caps, lines, deadline_at, approval_id, invocation_id, created_at)
    select ${made.id}::uuid, ${organizationId}::uuid, ${made.userId}::uuid, ${made.apiKeyId}::uuid, ${made.mode}, ${reference.type}, ${reference.id}, ${made.credits}::bigint, ${made.countsForCaps}::boolean,
      ${JSON.stringify(made.lines)}::jsonb, ${made.deadlineAt}::timestamptz, ${made.approvalId}::uuid, ${invocationId}::uuid, ${now}::timestamptz`
}

/** Captures a part of a live credit reservation, nothing or all of it, and releases the rest. Null: it is not live. */
export async function settle(tx: Tx, cause: Cause, reservationId: string, captured: number): Promise<Balances | null> {
  const { rows } = await sql<After & { released: number }>`
    with r as (
      update reservation set state = ${captured > 0 ? 'captured' : 'released'}, captured_credits = ${captured}, settled_at = ${cause.now}
      where id = ${reservationId} and org_id = ${cause.organizationId} and mode = 'credit' and state = 'live' and credits >= ${captured}
      returning credits
    ), w as (
      update wallet set available = wallet.available + r.credits - ${captured}, reserved = wallet.reserved - r.credits
      from r where wallet.org_id = ${cause.organizationId} and r.credits > 0
      returning ${AFTER}, r.credits - ${captured} as released
    ), t as (
      insert into ledger_transfer (id, org_id, type, source, target, credits, available_after, reserved_after, reservation_id, reference_type, reference_id, invocation_id, created_at)
      select moved.id, ${cause.organizationId}::uuid, moved.type, 'reserved', moved.target, moved.credits, moved.available, moved.reserved, ${reservationId}::uuid,
        ${cause.reference?.type ?? null}, ${cause.reference?.id ?? null}, ${cause.invocationId}::uuid, ${cause.now}::timestamptz
      from w, lateral (values
        (1, ${newId()}::uuid, 'capture', 'captured', ${captured}::bigint, w.available - w.released, w.reserved + w.released),
        (2, ${newId()}::uuid, 'release', 'available', w.released, w.available, w.reserved)
      ) as moved (nth, id, type, target, credits, available, reserved)
      where moved.credits > 0 order by moved.nth
    )
    select w.* from r left join w on true`.execute(tx)
  const row = rows[0]
  if (!row) return null
  if (row.available === null) return await balances(tx, cause.organizationId) // It was for nothing, so nothing moved.
  return { ...row, availableBefore: row.available - row.released }
}

/** Changes the size of a live credit reservation, by its difference alone. Null: it is not live, or there are not so many credits. */
export async function resize(
  tx: Tx,
  cause: Cause,
  reservationId: string,
  credits: number,
  lines: readonly SpendLine[],
): Promise<Balances | null> {
  const held = await sql<{
    credits: number
  }>`select credits from reservation where id = ${reservationId} and org_id = ${cause.organizationId} and mode = 'credit' and state = 'live' for update`.execute(
    tx,
  )
  if (!held.rows[0]) return null
  const more = credits - held.rows[0].credits
  const moved =
    more > 0
      ? { type: 'reservation' as const, source: 'available', target: 'reserved', credits: more, reservationId }
      : { type: 'release' as const, source: 'reserved', target: 'available', credits: -more, reservationId }
  const { rows } = await sql<After>`
    with w as (
      update wallet set available = available - ${more}::bigint, reserved = reserved + ${more}::bigint
      where org_id = ${cause.organizationId} and available >= ${more}::bigint returning ${AFTER}
    ), r as (update reservation set credits = ${credits}, lines = ${JSON.stringify(lines)} from w where id = ${reservationId})
    , t as (${transfer(cause, moved)} from w where ${more}::bigint <> 0)
    select * from w`.execute(tx)
  return rows[0] ? { ...rows[0], availableBefore: rows[0].available + more } : null
}

/** Gives captured credits back. Null: not so many were captured. */
export async function refund(tx: Tx, cause: Cause, reservationId: string, credits: number): Promise<Balances | null> {
  const { rows } = await sql<After>`
    with r as (
      update reservation set refunded_credits = refunded_credits + ${credits}
      where id = ${reservationId} and org_id = ${cause.organizationId} and mode = 'credit' and state = 'captured' and refunded_credits + ${credits} <= captured_credits
      returning id
    ), w as (
      update wallet set available = available + ${credits} from r where wallet.org_id = ${cause.organizationId} returning ${AFTER}
    ), t as (${transfer(cause, { type: 'refund', source: 'captured', target: 'available', credits, reservationId })} from w)
    select * from w`.execute(tx)
  return rows[0] ? { ...rows[0], availableBefore: rows[0].available - credits } : null
}

interface Transfer {
  type: TransferType
  source: string
  target: string
  credits: number
  reservationId?: string
  paymentIntentId?: string | null
}

/** To be followed by `from w`, the changed wallet. */
function transfer(
  { organizationId, invocationId, now, reference, description }: Cause,
  { type, source, target, credits, reservationId, paymentIntentId }: Transfer,
): RawBuilder<unknown> {
  return sql`
    insert into ledger_transfer (id, org_id, type, source, target, credits, available_after, reserved_after, reservation_id, reference_type, reference_id, payment_intent_id, description, invocation_id, created_at)
    select ${newId()}::uuid, ${organizationId}::uuid, ${type}, ${source}, ${target}, ${credits}::bigint, w.available, w.reserved, ${reservationId ?? null}::uuid,
      ${reference?.type ?? null}, ${reference?.id ?? null}, ${paymentIntentId ?? null}, ${description ?? null}, ${invocationId}::uuid, ${now}::timestamptz`
}

async function balances(tx: Tx, organizationId: string): Promise<Balances> {
  const { rows } = await sql<After>`select ${AFTER} from wallet where org_id = ${organizationId}`.execute(tx)
  const found = rows[0] ?? { available: 0, reserved: 0, threshold: STANDARD_THRESHOLD, autoTopup: false }
  return { ...found, availableBefore: found.available }
}

export interface TransferRow {
  id: string
  type: TransferType
  source: string
  credits: number
  available_after: number
  reserved_after: number
  reference_type: string | null
  reference_id: string | null
  description: string | null
  created_at: Date
}

export async function list(
  db: Db,
  organizationId: string,
  { type, limit, offset }: { type: string | null; limit: number; offset: number },
): Promise<{ transfers: TransferRow[]; total: number }> {
  const query = db
    .selectFrom('ledger_transfer')
    .where('org_id', '=', organizationId)
    .$if(type !== null, (rows) => rows.where('type', '=', type as TransferType))
  const transfers = await query
    .select([
      'id',
      'type',
      'source',
      'credits',
      'available_after',
      'reserved_after',
      'reference_type',
      'reference_id',
      'description',
      'created_at',
    ])
    .orderBy('seq', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  const { total } = await query.select((count) => count.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { transfers, total }
}

/** What the transfers say the wallet should hold. */
export async function recount(db: Db, organizationId: string): Promise<{ available: number; reserved: number }> {
  const { rows } = await sql<{ available: number; reserved: number }>`
    select coalesce(sum(case when target = 'available' then credits when source = 'available' then -credits end), 0)::bigint as available,
      coalesce(sum(case when target = 'reserved' then credits when source = 'reserved' then -credits end), 0)::bigint as reserved
    from ledger_transfer where org_id = ${organizationId}`.execute(db)
  return rows[0]!
}
