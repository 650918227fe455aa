/** The invoice of a month: created once, with what was owed and whether it is paid. */
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

/** Serializes the closing of an organization's months. Returns the month's invoice if it is already closed. */
export async function lockPeriod(tx: Tx, organizationId: string, period: string): Promise<Invoice | null> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`invoice ${organizationId}`}, 0))`.execute(tx)
  return await findByPeriod(tx, organizationId, period)
}

export async function insert(tx: Tx, request: NewInvoice, now: Date): Promise<Invoice> {
  const total = request.subtotalCents + request.gstCents
  return await tx
    .insertInto('invoice')
    .values({
      id: newId(),
      org_id: request.organizationId,
      number: sql<string>`'GT-' || lpad(nextval('invoice_number')::text, 8, '0')`,
      period: request.period,
      status: total === 0 ? 'paid' : 'open',
      lines: JSON.stringify(request.lines),
      commitments: JSON.stringify(request.commitments),
      customer: JSON.stringify(request.customer),
      subtotal_cents: request.subtotalCents,
      gst_cents: request.gstCents,
      total_cents: total,
      due_cents: total,
      issued_at: now,
      due_at: request.dueAt,
      paid_at: total === 0 ? now : null,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Of one organization, or of any if null. */
export async function find(db: Db, organizationId: string | null, id: string): Promise<Invoice | null> {
  if (!isUuid(id)) return null
  const row = await invoices(db)
    .where('id', '=', id)
    .$if(organizationId !== null, (query) => query.where('org_id', '=', organizationId!))
    .executeTakeFirst()
  return row ?? null
}

export async function findByPeriod(db: Db, organizationId: string, period: string): Promise<Invoice | null> {
  return (await invoices(db).where('org_id', '=', organizationId).where('period', '=', period).executeTakeFirst()) ?? null
}

export async function findLatest(db: Db, organizationId: string): Promise<Invoice | null> {
  return (await invoices(db).where('org_id', '=', organizationId).orderBy('period', 'desc').limit(1).executeTakeFirst()) ?? null
}

/** Newest month first. A month without charges has an invoice of zero. */
export async function list(db: Db, organizationId: string, limit: number): Promise<Invoice[]> {
  return await invoices(db).where('org_id', '=', organizationId).orderBy('period', 'desc').limit(limit).execute()
}

/** Locks an invoice for collection. Returns false if it is paid or the processor is collecting it. */
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

/** Returns false if it was already paid. */
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

/** Unpaid invoices to collect automatically; enterprise invoices are paid by other means. */
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
