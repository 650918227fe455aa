import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { Closed, Described, Limit, Nullable, Timestamp } from '#core/shapes.ts'
import { requireBillingAdmin, walletOf } from '#model/money/billing-account.ts'
import { callProcessor, requirePayments } from '#model/money/processor.ts'
import { operation } from '#operation.ts'
import { Aud } from './wire.ts'
import { EXAMPLE_AT } from '#wire/examples.ts'

const Row = Closed(
  {
    id: Type.String({ description: 'Invoice ID at the payment processor' }),
    number: Described(Nullable(Type.String()), 'Invoice number; null for a draft'),
    status: Type.String({ description: 'Invoice status at the payment processor' }),
    total_aud: Described(Aud, 'Total including tax in Australian dollars'),
    created_at: Described(Timestamp, 'Creation time'),
    hosted_invoice_url: Described(Nullable(Type.String()), 'Invoice page hosted by the payment processor; null for a draft'),
  },
  { $id: 'ProcessorInvoice', description: 'An invoice at the payment processor' },
)

/** Invoices at the payment processor: the months charged to the default card. */
export default operation({
  id: 'billing.stripe_invoices.list',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({ limit: Limit(50, 100) }),
  output: Closed({
    invoices: Type.Array(Row, { description: 'Invoices at the payment processor, newest first' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: {
    input: {},
    output: {
      invoices: [{ id: 'in_1a2b', number: 'A-0001', status: 'paid', total_aud: 163.9, created_at: EXAMPLE_AT, hosted_invoice_url: null }],
      count: 1,
    },
  },
}).handle({
  async check({ db, principal, payments }) {
    const organizationId = await requireBillingAdmin(db, principal)
    return { organizationId, payments: requirePayments({ payments }) }
  },
  async execute({ db }, { limit }, { organizationId, payments }) {
    const { customerId } = await walletOf(db, organizationId)
    const invoices = customerId ? await callProcessor(() => payments.listInvoices(customerId, limit)) : []
    const records = invoices.map(({ id, number, status, cents, createdAt, url }) => ({
      id,
      number,
      status,
      total_aud: audOf(cents),
      created_at: createdAt.toISOString(),
      hosted_invoice_url: url,
    }))
    return { invoices: records, count: records.length }
  },
})
