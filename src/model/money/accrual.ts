/** What enterprise organizations owe for what was delivered, until it is invoiced. */
import type { Db, Tx } from '#db/tables.ts'
import type { Period } from '#core/period.ts'

export interface Accrual {
  reference_type: string
  reference_id: string
  credits: number
  settled_at: Date
  invoiced_reference: string | null
}

export async function list(db: Db, organizationId: string, period: Period): Promise<Accrual[]> {
  const rows = await accrued(db, organizationId, period)
    .select(['reference_type', 'reference_id', 'captured_credits', 'refunded_credits', 'settled_at', 'invoiced_reference'])
    .orderBy('settled_at')
    .orderBy('id')
    .execute()
  return rows.map(({ captured_credits, refunded_credits, settled_at, ...row }) => ({
    ...row,
    credits: captured_credits - refunded_credits,
    settled_at: settled_at!,
  }))
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
    .returning(['captured_credits', 'refunded_credits'])
    .execute()
  return { count: rows.length, credits: rows.reduce((sum, row) => sum + row.captured_credits - row.refunded_credits, 0) }
}

export async function noteInvoice(tx: Tx, organizationId: string, period: string, reference: string, note: string | null): Promise<void> {
  await tx.updateTable('invoice').set({ reference, note }).where('org_id', '=', organizationId).where('period', '=', period).execute()
}
