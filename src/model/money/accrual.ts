/** What enterprise organizations owe for what was delivered, until it is invoiced. */
import { sql } from 'kysely'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Period } from '#core/period.ts'

const COLUMNS = [
  'reference_type as referenceType',
  'reference_id as referenceId',
  sql<number>`captured_credits - refunded_credits`.as('credits'),
  sql<Date>`settled_at`.as('settledAt'), // What was captured was settled.
  'invoiced_reference as invoicedReference',
] as const

export type Accrual = Row<'reservation', typeof COLUMNS>

export async function list(db: Db, organizationId: string, period: Period): Promise<Accrual[]> {
  return await accrued(db, organizationId, period).select(COLUMNS).orderBy('settled_at').orderBy('id').execute()
}

const accrued = (db: Db, organizationId: string, { start, end }: Period) =>
  db
    .selectFrom('reservation')
    .where('org_id', '=', organizationId)
    .where('mode', '=', 'enterprise')
    .where('state', '=', 'captured')
    .where('settled_at', '>=', start)
    .where('settled_at', '<', end)

/** Each spend is invoiced once: what carries a reference keeps it. */
export async function markInvoiced(
  tx: Tx,
  organizationId: string,
  period: Period,
  mark: { reference: string; referenceIds: readonly string[] | null },
  now: Date,
): Promise<{ count: number; credits: number }> {
  const rows = await tx
    .updateTable('reservation')
    .set({ invoiced_reference: mark.reference, invoiced_at: now })
    .where(
      'id',
      'in',
      accrued(tx, organizationId, period)
        .select('id')
        .where('invoiced_at', 'is', null)
        .$if(mark.referenceIds !== null, (query) => query.where('reference_id', 'in', [...mark.referenceIds!, ''])),
    )
    .returning(COLUMNS)
    .execute()
  return { count: rows.length, credits: rows.reduce((sum, { credits }) => sum + credits, 0) }
}

export async function noteInvoice(tx: Tx, organizationId: string, period: string, reference: string, note: string | null): Promise<void> {
  await tx.updateTable('invoice').set({ reference, note }).where('org_id', '=', organizationId).where('period', '=', period).execute()
}
