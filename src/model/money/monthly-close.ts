/** Closes a month of an organization: creates one invoice for what is owed and pays it from credits if they suffice. */
import { DAY_MS } from '#core/time.ts'
import { gstCents } from '#core/money.ts'
import { periodBefore, periodNamed, type Period } from '#core/period.ts'
import { problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { InvoiceCustomer, InvoiceLine, StatementCommitment } from '#db/tables/money.ts'
import * as accruals from './accrual.ts'
import type { Billable } from './accrual.ts'
import { billingModeOf } from './billing-account.ts'
import type { Change } from '#effects.ts'
import { reportLowBalance } from './low-balance.ts'
import * as commitments from './commitment.ts'
import type { Rollup } from './commitment.ts'
import * as invoices from './invoice.ts'
import type { Invoice } from './invoice.ts'
import * as ledgers from './ledger.ts'
import { collectInvoiceTask } from './tasks.ts'
import * as organizations from '#model/identity/organization.ts'
import type { Organization } from '#model/identity/organization.ts'
import { planSpans } from '#model/plans/plan.ts'

const ENTERPRISE_TERMS_DAYS = 30
const TERMS_DAYS = 7

/** A past month; by default the last one. */
export function closablePeriod(name: string | null | undefined, now: Date): Period {
  const period = name ? periodNamed(name) : periodBefore(now)
  if (period.end > now) throw problem('bad-request', `The month ${period.name} is not over yet`)
  return period
}

interface ClosedMonth {
  invoice: Invoice
  /** False if the month was already closed; nothing happened then. */
  isFirst: boolean
}

export async function close(change: Change, organizationId: string, period: Period): Promise<ClosedMonth> {
  const { tx, clock } = change
  const before = await invoices.lockPeriod(tx, organizationId, period.name)
  if (before) return { invoice: before, isFirst: false }
  const now = clock.now()
  const owner = await organizations.get(tx, organizationId)
  const rollups = await commitments.list(tx, organizationId, period.end)
  const planFees = await planLines(tx, organizationId, period)
  const shortfalls = shortfallLines(rollups, period)
  const billed = fitting(await accruals.billable(tx, organizationId, period), sumCents([...planFees, ...shortfalls]))
  const lines = [...planFees, ...billed.filter(({ credits }) => credits !== 0).map(accruedLine), ...shortfalls]
  const subtotalCents = sumCents(lines)
  const mode = await billingModeOf(tx, organizationId)
  const invoice = await invoices.insert(
    tx,
    {
      organizationId,
      period: period.name,
      lines,
      commitments: rollups.map(toStatement),
      customer: customerOf(owner),
      subtotalCents,
      gstCents: gstCents(subtotalCents, isTaxed(owner)),
      dueAt: new Date(now.getTime() + (mode === 'enterprise' ? ENTERPRISE_TERMS_DAYS : TERMS_DAYS) * DAY_MS),
    },
    now,
  )
  await accruals.bill(tx, invoice.id, billed)
  if (invoice.totalCents > 0 && mode !== 'enterprise') await collect(change, invoice)
  return { invoice: (await invoices.find(tx, organizationId, invoice.id))!, isFirst: true }
}

const sumCents = (lines: readonly InvoiceLine[]): number => lines.reduce((sum, line) => sum + Math.round(line.amount_aud * 100), 0)

/** From the wallet if it covers the whole amount; otherwise the default card is charged in the background. */
async function collect(change: Change, { id, organizationId, number, totalCents }: Invoice): Promise<void> {
  const { tx, clock, invocationId, tasks } = change
  const now = clock.now()
  const after = await ledgers.debit(
    tx,
    { organizationId, invocationId, now, reference: { type: 'invoice', id }, description: `Invoice ${number}` },
    'capture',
    totalCents,
  )
  if (!after) return await tasks.enqueue(collectInvoiceTask, { invoice_id: id })
  await invoices.markPaid(tx, id, now)
  await reportLowBalance(change, organizationId, after)
}

/** The fee of each plan for its part of the month, to the millisecond; rounded half up, once per span. */
async function planLines(tx: Tx, organizationId: string, { start, end }: Period): Promise<InvoiceLine[]> {
  const monthMs = end.getTime() - start.getTime()
  const spans = await planSpans(tx, organizationId, start, end)
  return spans
    .filter(({ plan }) => plan.monthlyAud > 0)
    .map(({ plan, from, to }) => {
      const part = (to.getTime() - from.getTime()) / monthMs
      const days = `${Number((part * (monthMs / DAY_MS)).toFixed(2))} of ${monthMs / DAY_MS} days`
      return {
        kind: 'plan' as const,
        description: `Plan ${plan.name}, ${days}`,
        reference_id: plan.id,
        quantity: Number(part.toFixed(4)),
        amount_aud: Math.round(plan.monthlyAud * 100 * part) / 100,
      }
    })
    .filter(({ amount_aud }) => amount_aud > 0)
}

/** The accruals that can be billed now. A refund waits for an invoice that it does not make negative. */
function fitting(candidates: readonly Billable[], otherCents: number): Billable[] {
  let sum = otherCents
  return candidates.filter(({ credits }) => {
    if (sum + credits < 0) return false
    sum += credits
    return true
  })
}

function accruedLine({ referenceType, referenceId, credits }: Billable): InvoiceLine {
  const isOrder = referenceType === 'order'
  const name = isOrder ? `Order ${referenceId}` : `Processing ${referenceId}`
  return {
    kind: isOrder ? 'order' : 'job',
    description: credits < 0 ? `Refund for ${name.toLowerCase()}` : name,
    reference_id: referenceId,
    quantity: 1,
    amount_aud: credits / 100,
  }
}

/** Take-or-pay: a commitment that ended in this month below its minimum is charged for the rest. */
function shortfallLines(rollups: readonly Rollup[], { name }: Period): InvoiceLine[] {
  return rollups
    .filter(({ periodEnd, shortfallCents }) => periodEnd.startsWith(name) && shortfallCents > 0)
    .map((commitment) => ({
      kind: 'shortfall' as const,
      description: `Shortfall of commitment ${commitment.name}`,
      reference_id: commitment.id,
      quantity: 1,
      amount_aud: commitment.shortfallCents / 100,
    }))
}

const toStatement = ({ id, name, delivered, remaining, shortfall, status }: Rollup): StatementCommitment => ({
  id,
  name,
  delivered_to_date: delivered,
  remaining,
  shortfall,
  status,
})

const customerOf = ({ name, abn, taxNumber, billingEmail, billingAddress }: Organization): InvoiceCustomer => ({
  name,
  abn,
  tax_number: taxNumber,
  billing_email: billingEmail,
  billing_address: billingAddress,
})

/** Organizations in Australia, by their country or ABN, pay GST. */
function isTaxed({ country, abn }: Pick<Organization, 'country' | 'abn'>): boolean {
  return abn !== null || /^(au|aus|australia)$/i.test(country?.trim() ?? '')
}

const BATCH = 1_000

/** Organizations that existed in a month that is not closed yet. */
export async function unclosed(db: Db, period: Period, after: string | null): Promise<string[]> {
  const rows = await db
    .selectFrom('organization')
    .select('organization.id')
    .where('created_at', '<', period.end)
    .where('deleted_at', 'is', null) // An organization can be deleted only when nothing is owed.
    .where((not) =>
      not.not(
        not.exists(
          not
            .selectFrom('invoice')
            .select('invoice.id')
            .whereRef('invoice.org_id', '=', 'organization.id')
            .where('period', '=', period.name),
        ),
      ),
    )
    .$if(after !== null, (query) => query.where('organization.id', '>', after!))
    .orderBy('organization.id')
    .limit(BATCH)
    .execute()
  return rows.map(({ id }) => id)
}
