/**
 * The ledger: append-only transfers between the accounts of an organization, in whole credits. The organization's own accounts are
 * `available` and `reserved`, whose balances are in the wallet; the others (`purchased`, `granted`, `bonus`, `adjusted`, `captured`) are
 * where credits come from and go to. Each movement is one statement: it changes the wallet's row only if the balance suffices, and the
 * transfer records the resulting balances. Zero rows mean that nothing happened. As a single statement, a movement is atomic on its own
 * when nothing else has to commit with it.
 */
import { sql, type RawBuilder } from 'kysely'
import { MAX_CREDITS } from '#core/money.ts'
import { newId } from '#core/ids.ts'
import { problem } from '#core/problem.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { BillingMode, LedgerAccount, SpendLine, TransferType } from '#db/tables/money.ts'

export interface Reference {
  type: string
  id: string
}

/** Why credits move: every transfer names its invocation and what it is for. */
interface Cause {
  organizationId: string
  invocationId: string
  now: Date
  reference: Reference | null
  description?: string | null
}

/** Balances after a movement, and the available credits before it. */
export interface Balances {
  available: number
  reserved: number
  availableBefore: number
  /** Below this, the balance counts as low. */
  threshold: number
  autoTopup: boolean
}

/** The low-balance threshold without automatic top-up. */
const STANDARD_THRESHOLD = 1_000

const AFTER = sql`
  wallet.available, wallet.reserved,
  coalesce(wallet.auto_threshold, ${sql.lit(STANDARD_THRESHOLD)}::bigint) as threshold,
  wallet.auto_enabled as "autoTopup"`

type After = Omit<Balances, 'availableBefore'>

/** The account that credits of each kind come from. */
const SOURCES = { grant: 'granted', topup: 'purchased', bonus: 'bonus', adjustment: 'adjusted' } as const

/** Adds credits. Returns null if this payment intent was already credited. */
export async function credit(
  tx: Tx,
  cause: Cause,
  entries: readonly { type: keyof typeof SOURCES; credits: number }[],
  paymentIntentId: string | null = null,
): Promise<Balances | null> {
  if (paymentIntentId && (await isPaid(tx, paymentIntentId))) return null
  let before: number | null = null
  let after: After | undefined
  for (const { type, credits } of entries.filter((entry) => entry.credits > 0)) {
    const { rows } = await sql<After>`
      with w as (
        insert into wallet (org_id, available, is_funded) values (${cause.organizationId}, ${credits}, true)
        on conflict (org_id) do update set available = wallet.available + excluded.available, is_funded = true
        where wallet.available + wallet.reserved + excluded.available <= ${MAX_CREDITS}
        returning ${AFTER}
      ), t as (${transfer(cause, { type, source: SOURCES[type], target: 'available', credits, paymentIntentId })} from w)
      select * from w`.execute(tx)
    after = rows[0]
    if (!after) throw problem('bad-request', 'The credits exceed the maximum balance of a wallet')
    before ??= after.available - credits
  }
  return after ? { ...after, availableBefore: before! } : await balances(tx, cause.organizationId)
}

/** Waits for a concurrent credit of the same intent, which locks the wallet's row until it commits. */
async function isPaid(tx: Tx, paymentIntentId: string): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${paymentIntentId}, 0))`.execute(tx)
  return (
    (await tx.selectFrom('ledger_transfer').select('seq').where('payment_intent_id', '=', paymentIntentId).executeTakeFirst()) !== undefined
  )
}

/** Deducts credits that were not reserved: a fee (`capture`) or a correction. Returns null if there are not enough. */
export async function debit(tx: Tx, cause: Cause, type: 'capture' | 'adjustment', credits: number): Promise<Balances | null> {
  const target = type === 'capture' ? 'captured' : 'adjusted'
  const { rows } = await sql<After>`
    with w as (
      update wallet set available = available - ${credits}
      where org_id = ${cause.organizationId} and available >= ${credits}
      returning ${AFTER}
    ), t as (${transfer(cause, { type, source: 'available', target, credits })} from w)
    select * from w`.execute(tx)
  return rows[0] ? { ...rows[0], availableBefore: rows[0].available + credits } : null
}

interface NewReservation {
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

/** Reserves credits. Returns null if there are not enough. */
export async function reserve(tx: Db, cause: Cause & { reference: Reference }, reservation: NewReservation): Promise<Balances | null> {
  const moved = {
    type: 'reservation',
    source: 'available',
    target: 'reserved',
    credits: reservation.credits,
    reservationId: reservation.id,
  } as const
  const { rows } = await sql<After>`
    with w as (
      update wallet set available = available - ${reservation.credits}, reserved = reserved + ${reservation.credits}
      where org_id = ${cause.organizationId} and available >= ${reservation.credits}
      returning ${AFTER}
    ), r as (${insertReservation(cause, reservation)} from w)
    , t as (${transfer(cause, moved)} from w)
    select * from w`.execute(tx)
  return rows[0] ? { ...rows[0], availableBefore: rows[0].available + reservation.credits } : null
}

/** A reservation without credits: a card hold, an accrual, or something that is free. */
export async function reserveWithoutCredits(tx: Tx, cause: Cause & { reference: Reference }, reservation: NewReservation): Promise<void> {
  await sql`${insertReservation(cause, reservation)} from (select) as nothing`.execute(tx)
}

function insertReservation(
  { organizationId, invocationId, now, reference }: Cause & { reference: Reference },
  reservation: NewReservation,
): RawBuilder<unknown> {
  return sql`
    insert into reservation (
      id, org_id, user_id, api_key_id,
      mode, reference_type, reference_id, credits, counts_for_caps,
      lines, deadline_at, approval_id, invocation_id, created_at
    ) select
      ${reservation.id}::uuid, ${organizationId}::uuid, ${reservation.userId}::uuid, ${reservation.apiKeyId}::uuid,
      ${reservation.mode}, ${reference.type}, ${reference.id}, ${reservation.credits}::bigint, ${reservation.countsForCaps}::boolean,
      ${JSON.stringify(reservation.lines)}::jsonb, ${reservation.deadlineAt}::timestamptz, ${reservation.approvalId}::uuid,
      ${invocationId}::uuid, ${now}::timestamptz`
}

/** Captures a live credit reservation, in full or in part, and releases the rest. Returns null if it is not live. */
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
      insert into ledger_transfer (
        id, org_id, type, source, target, credits,
        available_after, reserved_after, reservation_id, reference_type, reference_id,
        invocation_id, created_at
      ) select
        moved.id, ${cause.organizationId}::uuid, moved.type, 'reserved', moved.target, moved.credits,
        moved.available, moved.reserved, ${reservationId}::uuid, ${cause.reference?.type ?? null}, ${cause.reference?.id ?? null},
        ${cause.invocationId}::uuid, ${cause.now}::timestamptz
      from w, lateral (values
        (1, ${newId()}::uuid, 'capture', 'captured', ${captured}::bigint, w.available - w.released, w.reserved + w.released),
        (2, ${newId()}::uuid, 'release', 'available', w.released, w.available, w.reserved)
      ) as moved (nth, id, type, target, credits, available, reserved)
      where moved.credits > 0 order by moved.nth
    )
    select w.* from r left join w on true`.execute(tx)
  const row = rows[0]
  if (!row) return null
  if (row.available === null) return await balances(tx, cause.organizationId) // It was free, so nothing moved.
  return { ...row, availableBefore: row.available - row.released }
}

/** Changes the size of a live credit reservation by the difference. Returns null if it is not live or there are not enough credits. */
export async function resize(
  tx: Tx,
  cause: Cause,
  reservationId: string,
  credits: number,
  lines: readonly SpendLine[],
): Promise<Balances | null> {
  const live = await tx
    .selectFrom('reservation')
    .select('credits')
    .where('id', '=', reservationId)
    .where('org_id', '=', cause.organizationId)
    .where('mode', '=', 'credit')
    .where('state', '=', 'live')
    .forUpdate()
    .executeTakeFirst()
  if (!live) return null
  const more = credits - live.credits
  const moved: Movement =
    more > 0
      ? { type: 'reservation', source: 'available', target: 'reserved', credits: more, reservationId }
      : { type: 'release', source: 'reserved', target: 'available', credits: -more, reservationId }
  const { rows } = await sql<After>`
    with w as (
      update wallet set available = available - ${more}::bigint, reserved = reserved + ${more}::bigint
      where org_id = ${cause.organizationId} and available >= ${more}::bigint returning ${AFTER}
    ), r as (update reservation set credits = ${credits}, lines = ${JSON.stringify(lines)} from w where id = ${reservationId})
    , t as (${transfer(cause, moved)} from w where ${more}::bigint <> 0)
    select * from w`.execute(tx)
  return rows[0] ? { ...rows[0], availableBefore: rows[0].available + more } : null
}

/** Refunds captured credits. Returns null if fewer were captured. */
export async function refund(tx: Tx, cause: Cause, reservationId: string, credits: number): Promise<Balances | null> {
  const { rows } = await sql<After>`
    with r as (
      update reservation set refunded_credits = refunded_credits + ${credits}
      where id = ${reservationId} and org_id = ${cause.organizationId} and mode = 'credit' and state = 'captured'
        and refunded_credits + ${credits} <= captured_credits
      returning id
    ), w as (
      update wallet set available = available + ${credits} from r where wallet.org_id = ${cause.organizationId} returning ${AFTER}
    ), t as (${transfer(cause, { type: 'refund', source: 'captured', target: 'available', credits, reservationId })} from w)
    select * from w`.execute(tx)
  return rows[0] ? { ...rows[0], availableBefore: rows[0].available - credits } : null
}

interface Movement {
  type: TransferType
  source: LedgerAccount
  target: LedgerAccount
  credits: number
  reservationId?: string
  paymentIntentId?: string | null
}

/** Must be followed by `from w`, the changed wallet. */
function transfer(
  { organizationId, invocationId, now, reference, description }: Cause,
  { type, source, target, credits, reservationId, paymentIntentId }: Movement,
): RawBuilder<unknown> {
  return sql`
    insert into ledger_transfer (
      id, org_id, type, source, target, credits,
      available_after, reserved_after, reservation_id, reference_type, reference_id,
      payment_intent_id, description, invocation_id, created_at
    ) select
      ${newId()}::uuid, ${organizationId}::uuid, ${type}, ${source}, ${target}, ${credits}::bigint,
      w.available, w.reserved, ${reservationId ?? null}::uuid, ${reference?.type ?? null}, ${reference?.id ?? null},
      ${paymentIntentId ?? null}, ${description ?? null}, ${invocationId}::uuid, ${now}::timestamptz`
}

async function balances(tx: Tx, organizationId: string): Promise<Balances> {
  const { rows } = await sql<After>`select ${AFTER} from wallet where org_id = ${organizationId}`.execute(tx)
  const wallet = rows[0] ?? { available: 0, reserved: 0, threshold: STANDARD_THRESHOLD, autoTopup: false }
  return { ...wallet, availableBefore: wallet.available }
}

const COLUMNS = [
  'id',
  'type',
  'source',
  'credits',
  'available_after as availableAfter',
  'reserved_after as reservedAfter',
  'reference_type as referenceType',
  'reference_id as referenceId',
  'description',
  'created_at as createdAt',
] as const

export type Transfer = Row<'ledger_transfer', typeof COLUMNS>

export async function list(
  db: Db,
  organizationId: string,
  { type, limit, offset }: { type: TransferType | null; limit: number; offset: number },
): Promise<{ transfers: Transfer[]; total: number }> {
  const query = db
    .selectFrom('ledger_transfer')
    .where('org_id', '=', organizationId)
    .$if(type !== null, (rows) => rows.where('type', '=', type!))
  const transfers = await query.select(COLUMNS).orderBy('seq', 'desc').limit(limit).offset(offset).execute()
  const { total } = await query.select((count) => count.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { transfers, total }
}

/** The balances that the transfers add up to. */
export async function recount(db: Db, organizationId: string): Promise<{ available: number; reserved: number }> {
  const { rows } = await sql<{ available: number; reserved: number }>`
    select coalesce(sum(case when target = 'available' then credits when source = 'available' then -credits end), 0)::bigint as available,
      coalesce(sum(case when target = 'reserved' then credits when source = 'reserved' then -credits end), 0)::bigint as reserved
    from ledger_transfer where org_id = ${organizationId}`.execute(db)
  return rows[0]!
}
