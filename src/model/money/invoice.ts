/** The invoice of a month: what was owed, made once, and whether it is paid. */
import { sql } from 'kysely'
import { newId, isUuid } from '#core/ids.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { InvoiceCustomer, InvoiceLine, StatementCommitment } from '#db/tables/money.ts'

const COLUMNS = [
  'id',
  'org_id as organizationId',
  'number',
  'period',
  'status',
  'lines',
  'commitments',
  'customer',
  'subtotal_cents as subtotalCents',
  'gst_cents as gstCents',
  'total_cents as totalCents',
  'due_cents as dueCents',
  'processor_invoice_id as processorInvoiceId',
  'reference',
  'issued_at as issuedAt',
  'due_at as dueAt',
  'paid_at as paidAt',
] as const

export type Invoice = Row<'invoice', typeof COLUMNS>

export interface NewInvoice extends Pick<Invoice, 'organizationId' | 'period' | 'subtotalCents' | 'gstCents' | 'dueAt'> {
  lines: readonly InvoiceLine[]
  commitments: readonly StatementCommitment[]
  customer: InvoiceCustomer
}

const invoices = (db: Db) => db.selectFrom('invoice').select(COLUMNS)

/** One month of an organization is closed at a time; whoever comes for the same one finds it closed, for another what it left. */
export async function lockPeriod(tx: Tx, organizationId: string, period: string): Promise<Invoice | null> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`invoice ${organizationId}`}, 0))`.execute(tx)
  return await findByPeriod(tx, organizationId, period)
}

export async function insert(tx: Tx, made: NewInvoice, now: Date): Promise<Invoice> {
  const total = made.subtotalCents + made.gstCents
  return await tx
    .insertInto('invoice')
    .values({
      id: newId(),
      org_id: made.organizationId,
      number: sql<string>`'GT-' || lpad(nextval('invoice_number')::text, 8, '0')`,
      period: made.period,
      status: total === 0 ? 'paid' : 'open',
      lines: JSON.stringify(made.lines),
      commitments: JSON.stringify(made.commitments),
      customer: JSON.stringify(made.customer),
      subtotal_cents: made.subtotalCents,
      gst_cents: made.gstCents,
      total_cents: total,
      due_cents: total,
      issued_at: now,
      due_at: made.dueAt,
      paid_at: total === 0 ? now : null,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Of one organization, or of any. */
export async function find(db: Db, organizationId: string | null, id: string): Promise<Invoice | null> {
  if (!isUuid(id)) return null
  const found = await invoices(db)
    .where('id', '=', id)
    .$if(organizationId !== null, (query) => query.where('org_id', '=', organizationId!))
    .executeTakeFirst()
  return found ?? null
}

export async function findByPeriod(db: Db, organizationId: string, period: string): Promise<Invoice | null> {
  return (await invoices(db).where('org_id', '=', organizationId).where('period', '=', period).executeTakeFirst()) ?? null
}

export async function findLatest(db: Db, organizationId: string): Promise<Invoice | null> {
  return (await invoices(db).where('org_id', '=', organizationId).orderBy('period', 'desc').limit(1).executeTakeFirst()) ?? null
}

/** Newest month first. A month in which nothing was owed has an invoice too, of zero. */
export async function list(db: Db, organizationId: string, limit: number): Promise<Invoice[]> {
  return await invoices(db).where('org_id', '=', organizationId).orderBy('period', 'desc').limit(limit).execute()
}

/** One collects at a time; false when it is paid, or the processor is at it. */
export async function lockUnpaid(tx: Tx, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('invoice')
    .select('id')
    .where('id', '=', id)
    .where('status', '<>', 'paid')
    .where('processor_invoice_id', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** False: it was paid before. */
export async function markPaid(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('invoice')
    .set({ status: 'paid', due_cents: 0, paid_at: now, failure: null })
    .where('id', '=', id)
    .where('status', '<>', 'paid')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function noteProcessorInvoice(db: Db, id: string, processorInvoiceId: string): Promise<void> {
  await db
    .updateTable('invoice')
    .set({ processor_invoice_id: processorInvoiceId })
    .where('id', '=', id)
    .where('processor_invoice_id', 'is', null)
    .execute()
}

export async function noteFailure(db: Db, id: string, failure: string): Promise<void> {
  await db.updateTable('invoice').set({ failure }).where('id', '=', id).where('status', '<>', 'paid').execute()
}

/** Unpaid invoices of organizations that pay by themselves; enterprise invoices are paid by other ways. */
export async function collectable(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('invoice')
    .innerJoin('organization', 'organization.id', 'invoice.org_id')
    .select('invoice.id')
    .where('invoice.status', '<>', 'paid')
    .where('enterprise_status', '<>', 'confirmed')
    .orderBy('due_at')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

export async function markPastDue(db: Db, now: Date): Promise<void> {
  await db
    .updateTable('invoice')
    .from('organization')
    .set({ status: 'past_due' })
    .whereRef('organization.id', '=', 'invoice.org_id')
    .where('enterprise_status', '<>', 'confirmed')
    .where('invoice.status', '=', 'open')
    .where('due_at', '<', now)
    .execute()
}

export async function isPastDue(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('invoice')
    .select('id')
    .where('org_id', '=', organizationId)
    .where('status', '=', 'past_due')
    .executeTakeFirst()
  return row !== undefined
}
