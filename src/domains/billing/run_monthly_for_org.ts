import Type from 'typebox'
import { accessDenied, notFound } from '#core/problem.ts'
import { satisfies } from '#core/scopes.ts'
import { Closed, Described, Uuid } from '#core/shapes.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import * as monthlyClose from '#model/money/monthly-close.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_INVOICE, EXAMPLE_LINE, InvoiceLineRecord, InvoiceRecord, toRecord } from './invoices.wire.ts'
import { OptionalPeriod } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/**
 * Closes a month that has ended, by default the previous one: what is owed becomes an invoice, paid from credits or by card.
 * A closed month never changes.
 */
export default operation({
  id: 'billing.run_monthly_for_org',
  scope: 'billing:write',
  tier: 'external_spend',
  idempotent: true,
  events: ['credits.low_balance', 'credits.depleted'],
  input: Closed({
    organization_id: Type.String({ maxLength: 100, description: 'ID of the organization to bill' }),
    period: Described(OptionalPeriod, 'Month to bill as `YYYY-MM`; null for the previous month'),
  }),
  output: Closed(
    {
      organization_id: Described(Uuid, 'ID of the billed organization'),
      closed: Type.Boolean({ description: 'Whether the month is closed' }),
      invoice: InvoiceRecord,
      lines: Type.Array(InvoiceLineRecord, { description: 'Invoice lines' }),
    },
    { description: 'The invoice of the month' },
  ),
  example: {
    input: { organization_id: EXAMPLE_IDS.organization, period: '2026-02' },
    output: { organization_id: EXAMPLE_IDS.organization, closed: true, invoice: EXAMPLE_INVOICE, lines: [EXAMPLE_LINE] },
  },
}).handle({
  async permit({ db, principal }, { organization_id }) {
    if (satisfies(principal.scopes, 'admin:write')) return { isStaff: true }
    if ((await requireBillingAdmin(db, principal)) !== organization_id.toLowerCase()) throw accessDenied()
    return { isStaff: false }
  },
  async check({ db, clock }, { organization_id, period }, { isStaff }) {
    if (isStaff && !(await organizations.exists(db, organization_id))) throw notFound('organization')
    return { organizationId: organization_id.toLowerCase(), period: monthlyClose.closablePeriod(period, clock.now()) }
  },
  async execute(context, _input, { organizationId, period }) {
    context.attributeTo(organizationId)
    const { invoice, isFirst } = await monthlyClose.close(context, organizationId, period)
    return { organization_id: organizationId, closed: isFirst, invoice: toRecord(invoice), lines: invoice.lines }
  },
})
