/**
 * What enterprise organizations owe, entry by entry. A spend accrues when it is agreed and is provisional until it ends; its final entry
 * corrects it to what was delivered. Entries are added in the transaction that changes the reservation, and the database rejects a
 * commit of one without the other. Only final entries are invoiced, each on one invoice.
 */
import { sql } from 'kysely'
import type { Period } from '#core/period.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { AccrualKind } from '#db/tables/money.ts'

interface NewEntry {
  organizationId: string
  reservationId: string
  kind: AccrualKind
  /** Added to what is owed; can be negative. */
  credits: number
  invocationId: string
  now: Date
}

export async function add(tx: Tx, { organizationId, reservationId, kind, credits, invocationId, now }: NewEntry): Promise<void> {
  if (credits === 0 && kind !== 'final') return
  await tx
    .insertInto('accrual_entry')
    .values({ org_id: organizationId, reservation_id: reservationId, kind, credits, invocation_id: invocationId, created_at: now })
    .execute()
}

export interface Accrual {
  referenceType: string
  referenceId: string
  /** The amount while it was open. */
  provisionalCredits: number
  /** The current amount; negative for a refund of an earlier month. */
  credits: number
  accruedAt: Date
  /** Null while it is provisional. */
  settledAt: Date | null
  invoicedReference: string | null
}

/**
 * Accruals of a month: what became final in it, and what was open at its end, as of then. A spend that ends in a later month is final
 * there and stays provisional here.
 */
export async function list(db: Db, organizationId: string, { start, end }: Period): Promise<Accrual[]> {
  const { rows } = await sql<Accrual>`
    select r.reference_type as "referenceType", r.reference_id as "referenceId", r.created_at as "accruedAt",
      case when r.settled_at < ${end} then r.settled_at end as "settledAt",
      case when r.settled_at < ${end} then r.invoiced_reference end as "invoicedReference",
      e.provisional as "provisionalCredits", case when r.settled_at < ${start} then e.refunded else e.credits end as credits
    from reservation r cross join lateral (
      select coalesce(sum(credits), 0)::bigint as credits,
        coalesce(sum(credits) filter (where kind = 'provisional'), 0)::bigint as provisional,
        coalesce(sum(credits) filter (where kind = 'refund' and created_at >= ${start}), 0)::bigint as refunded
      from accrual_entry where reservation_id = r.id and created_at < ${end}
    ) e
    where r.org_id = ${organizationId} and r.mode = 'enterprise' and r.created_at < ${end}
      and (r.settled_at is null or r.settled_at >= ${start} or r.id in (
        select reservation_id from accrual_entry
        where org_id = ${organizationId} and kind = 'refund' and created_at >= ${start} and created_at < ${end}
      ))
      and (e.credits <> 0 or e.refunded <> 0)
    order by r.settled_at nulls last, r.id`.execute(db)
  return rows
}

/** What is not invoiced, neither here nor, as marked by the operator, elsewhere: final for deliveries, provisional for open spends. */
export async function standing(db: Db, organizationId: string): Promise<{ finalCredits: number; provisionalCredits: number }> {
  const { rows } = await sql<{ finalCredits: number; provisionalCredits: number }>`
    select coalesce(sum(e.credits) filter (where r.state <> 'live'), 0)::bigint as "finalCredits",
      coalesce(sum(e.credits) filter (where r.state = 'live'), 0)::bigint as "provisionalCredits"
    from accrual_entry e join reservation r on r.id = e.reservation_id
    where e.org_id = ${organizationId} and e.invoice_id is null and (r.invoiced_at is null or e.kind = 'refund')`.execute(db)
  return rows[0]!
}

export interface Billable {
  referenceType: string
  referenceId: string
  credits: number
  /** The entries it sums up. */
  entries: number[]
}

/**
 * What became final before a month's end and is not invoiced, largest first. It can belong to an earlier month that was closed while a
 * spend was being settled; what the operator marked as invoiced in such a month is not billed again.
 */
export async function billable(tx: Tx, organizationId: string, { start, end }: Period): Promise<Billable[]> {
  const { rows } = await sql<Billable>`
    select r.reference_type as "referenceType", r.reference_id as "referenceId", sum(e.credits)::bigint as credits,
      json_agg(e.seq) as entries
    from accrual_entry e join reservation r on r.id = e.reservation_id
    where e.org_id = ${organizationId} and e.invoice_id is null and e.created_at < ${end} and r.settled_at < ${end}
      and (r.settled_at >= ${start} or r.invoiced_at is null or e.kind = 'refund')
    group by r.id order by sum(e.credits) desc, r.settled_at, r.id`.execute(tx)
  return rows
}

/** The database rejects an entry on two invoices and a provisional entry on any. */
export async function bill(tx: Tx, invoiceId: string, billed: readonly Billable[]): Promise<void> {
  const entries = billed.flatMap((billable) => billable.entries)
  await sql`update accrual_entry set invoice_id = ${invoiceId} where seq = any(${entries}::bigint[])`.execute(tx)
}

const MARKED = [sql<number>`captured_credits - refunded_credits`.as('credits')] as const

/** Each spend is invoiced once: an existing reference is kept. Provisional spends are not marked. */
export async function markInvoiced(
  tx: Tx,
  organizationId: string,
  { start, end }: Period,
  mark: { reference: string; referenceIds: readonly string[] | null },
  now: Date,
): Promise<{ count: number; credits: number }> {
  const rows: Row<'reservation', typeof MARKED>[] = await tx
    .updateTable('reservation')
    .set({ invoiced_reference: mark.reference, invoiced_at: now })
    .where('org_id', '=', organizationId)
    .where('mode', '=', 'enterprise')
    .where('state', '=', 'captured')
    .where('settled_at', '>=', start)
    .where('settled_at', '<', end)
    .where('invoiced_at', 'is', null)
    .$if(mark.referenceIds !== null, (query) => query.where('reference_id', 'in', [...mark.referenceIds!, '']))
    .returning(MARKED)
    .execute()
  return { count: rows.length, credits: rows.reduce((sum, { credits }) => sum + credits, 0) }
}

export async function noteInvoice(tx: Tx, organizationId: string, period: string, reference: string, note: string | null): Promise<void> {
  await tx.updateTable('invoice').set({ reference, note }).where('org_id', '=', organizationId).where('period', '=', period).execute()
}
