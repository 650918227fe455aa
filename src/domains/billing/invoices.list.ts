import Type from 'typebox'
import { Closed, Limit } from '#core/shapes.ts'
import * as invoices from '#model/money/invoice.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_INVOICE, InvoiceRecord, toRecord } from './invoices.wire.ts'

/** The organization's invoices, newest month first. */
export default operation({
  id: 'billing.invoices.list',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({ limit: Limit(50, 500) }),
  output: Closed({
    invoices: Type.Array(InvoiceRecord, { description: 'Invoices, newest first' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: {}, output: { invoices: [EXAMPLE_INVOICE], count: 1 } },
}).handle({
  check: async ({ principal }) => organizations.requireOrganization(principal),
  async execute({ db }, { limit }, organizationId) {
    const records = (await invoices.list(db, organizationId, limit)).map(toRecord)
    return { invoices: records, count: records.length }
  },
})
