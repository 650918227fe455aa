/** What prevents an organization from being deleted: money that is owed, held or being paid. */
import { sql } from 'kysely'
import { audOf } from '#core/money.ts'
import { periodNamed } from '#core/period.ts'
import type { Tx } from '#db/tables.ts'
import { planSpans } from '#model/plans/plan.ts'
import * as accruals from './accrual.ts'
import { billingModeOf, lockWallet } from './billing-account.ts'

/** One sentence per open matter, for the user who wants to delete it. Locks the wallet. */
export async function openDebts(tx: Tx, organizationId: string, now: Date): Promise<{ matters: string[]; credits: number }> {
  const { available } = await lockWallet(tx, organizationId)
  const { rows } = await sql<{ unpaid: number; held: number; paying: number; closedMonth: string | null }>`
    select (select count(*) from invoice where org_id = ${organizationId} and status <> 'paid') as unpaid,
      (select count(*) from reservation where org_id = ${organizationId} and state in ('live', 'capturing', 'releasing')) as held,
      (select count(*) from payment_attempt where org_id = ${organizationId}
        and status in ('created', 'pending', 'authorized', 'held')) as paying,
      (select max(period) from invoice where org_id = ${organizationId}) as "closedMonth"
  `.execute(tx)
  const { unpaid, held, paying, closedMonth } = rows[0]!
  const since = closedMonth === null ? new Date(0) : periodNamed(closedMonth).end
  const { finalCredits } = await accruals.standing(tx, organizationId)
  const hasFee = (await planSpans(tx, organizationId, since, now)).some(({ plan }) => plan.monthlyAud > 0)
  return {
    credits: available,
    matters: [
      unpaid > 0 && counted(unpaid, 'unpaid invoice', 'unpaid invoices'),
      held > 0 && counted(held, 'unsettled purchase or job', 'unsettled purchases or jobs'),
      paying > 0 && counted(paying, 'payment in progress', 'payments in progress'),
      finalCredits > 0 && `A$${audOf(finalCredits)} for deliveries not invoiced yet`,
      hasFee && "a plan fee not invoiced yet: change to the free plan, and try again after this month's invoice is paid",
      (await billingModeOf(tx, organizationId)) === 'enterprise' && 'enterprise billing, which only the operator of the service can end',
    ].filter((matter) => matter !== false),
  }
}

const counted = (count: number, noun: string, plural: string): string => `${count} ${count === 1 ? noun : plural}`
