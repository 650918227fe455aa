import { sql, type Selectable } from 'kysely'
import { newId, isUuid } from '#core/ids.ts'
import type { Db, Tables, Tx } from '#db/tables.ts'

export interface InvoiceLine {
  kind: 'plan' | 'order' | 'job' | 'shortfall'
  description: string
  reference_id: string | null
  quantity: number
  amount_aud: number
}

export interface StatementCommitment {
  id: string
  name: string
  delivered_to_date: number
  remaining: number
  shortfall: number
  status: string
}

/** Who it was made out to, as they were called then. */
export interface Addressee {
  name: string
  abn: string | null
  tax_number: string | null
  billing_email: string | null
  billing_address: Record<string, unknown> | null
}

export type Invoice = Omit<Selectable<Tables['invoice']>, 'lines' | 'commitments' | 'customer'> & {
  lines: InvoiceLine[]
  commitments: StatementCommitment[]
  customer: Addressee
}

export interface NewInvoice {
  organizationId: string
  period: string
  lines: readonly InvoiceLine[]
  commitments: readonly StatementCommitment[]
  customer: Addressee
  subtotalCents: number
  gstCents: number
  dueAt: Date
}

/** One closes a month; others wait here and then find it closed. */
export async function lockPeriod(tx: Tx, organizationId: string, period: string): Promise<Invoice | null> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`invoice ${organizationId} ${period}`}, 0))`.execute(tx)
  return await findByPeriod(tx, organizationId, period)
}

export async function insert(tx: Tx, made: NewInvoice, now: Date): Promise<Invoice> {
  const total = made.subtotalCents + made.gstCents
  const row = await tx
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
    .returningAll()
    .executeTakeFirstOrThrow()
  return row as unknown as Invoice
}

export async function find(db: Db, organizationId: string | null, id: string): Promise<Invoice | null> {
  if (!isUuid(id)) return null
  const row = await db
    .selectFrom('invoice')
    .selectAll()
    .where('id', '=', id)
    .$if(organizationId !== null, (query) => query.where('org_id', '=', organizationId!))
    .executeTakeFirst()
  return (row as unknown as Invoice | undefined) ?? null
}

export async function findByPeriod(db: Db, organizationId: string, period: string): Promise<Invoice | null> {
  return (
    ((await db
      .selectFrom('invoice')
      .selectAll()
      .where('org_id', '=', organizationId)
      .where('period', '=', period)
      .executeTakeFirst()) as unknown as Invoice | undefined) ?? null
  )
}

export async function findLatest(db: Db, organizationId: string): Promise<Invoice | null> {
  return (
    ((await db
      .selectFrom('invoice')
      .selectAll()
      .where('org_id', '=', organizationId)
      .orderBy('period', 'desc')
      .limit(1)
      .executeTakeFirst()) as unknown as Invoice | undefined) ?? null
  )
}

/** Months in which nothing was owed have a statement, but nothing to invoice. */
export async function list(db: Db, organizationId: string, limit: number): Promise<Invoice[]> {
  return (await db
    .selectFrom('invoice')
    .selectAll()
    .where('org_id', '=', organizationId)
    .where('total_cents', '>', 0)
    .orderBy('period', 'desc')
    .limit(limit)
    .execute()) as unknown as Invoice[]
}

/** One collects at a time; false when it is paid, or the processor is at it. */
export async function lockUnpaid(tx: Tx, id: string): Promise<boolean> {
  return (
    (await tx
      .selectFrom('invoice')
      .select('id')
      .where('id', '=', id)
      .where('status', '<>', 'paid')
      .where('processor_invoice_id', 'is', null)
      .forUpdate()
      .executeTakeFirst()) !== undefined
  )
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

/** Unpaid invoices of organizations that pay by themselves; enterprise invoices are paid context. */
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
  await sql`update invoice set status = 'past_due' from organization where organization.id = invoice.org_id and enterprise_status <> 'confirmed' and status = 'open' and due_at < ${now}`.execute(
    db,
  )
}

export async function isPastDue(db: Db, organizationId: string): Promise<boolean> {
  return (
    (await db
      .selectFrom('invoice')
      .select('id')
      .where('org_id', '=', organizationId)
      .where('status', '=', 'past_due')
      .executeTakeFirst()) !== undefined
  )
}
