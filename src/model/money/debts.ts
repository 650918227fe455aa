/** What stands between an organization and its end: money that is owed, held or under way. */
import { sql } from 'kysely'
import { audOf } from '#core/money.ts'
import { periodNamed } from '#core/period.ts'
import type { Tx } from '#db/tables.ts'
import { planSpans } from '#model/plans/plan.ts'
import * as accruals from './accrual.ts'
import { billingModeOf, lockWallet } from './billing-account.ts'

/** In words for whoever wants to end it, one for each; none: nobody owes anything. The wallet is held from here on. */
export async function openMatters(tx: Tx, organizationId: string, now: Date): Promise<{ matters: string[]; credits: number }> {
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
      unpaid > 0 && `${unpaid} invoices are not paid`,
      held > 0 && `${held} purchases or jobs are not settled`,
      paying > 0 && `${paying} payments are under way`,
      finalCredits > 0 && `A$${audOf(finalCredits)} for deliveries on account are not invoiced yet`,
      hasFee && 'a plan was used that is not invoiced yet: change to the free plan, and come back when the invoice of the month is paid',
      (await billingModeOf(tx, organizationId)) === 'enterprise' && 'it pays by account, which the operator of the service ends',
    ].filter((matter) => matter !== false),
  }
}
