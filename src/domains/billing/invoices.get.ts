import Type from 'typebox'
import type { PrintedInvoice } from '#services/documents/invoice-pdf.ts'
import { audOf } from '#core/money.ts'
import { notFound } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as invoices from '#model/money/invoice.ts'
import type { Invoice } from '#model/money/invoice.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation, type Context } from '#operation.ts'
import { EXAMPLE_INVOICE, EXAMPLE_LINE, InvoiceLineRecord, InvoiceRecord, toRecord } from './invoices.wire.ts'

const BUCKET = 'invoices'
const LINK_SECONDS = 900

/** One invoice with its lines, and a URL of its PDF, valid for 15 minutes. */
export default operation({
  id: 'billing.invoices.get',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({ invoice_id: Type.String({ maxLength: 100, description: 'Invoice ID' }) }),
  output: Closed(
    {
      ...InvoiceRecord.properties,
      lines: Type.Array(InvoiceLineRecord, { description: 'Invoice lines' }),
      document_url: Type.String({ description: 'URL of the PDF; valid for 15 minutes' }),
    },
    { description: 'The invoice with its lines and PDF' },
  ),
  example: {
    input: { invoice_id: EXAMPLE_INVOICE.id },
    output: { ...EXAMPLE_INVOICE, lines: [EXAMPLE_LINE], document_url: 'https://store.example/invoices/GT-00000042.pdf' },
  },
}).handle({
  async check({ db, principal }, { invoice_id }) {
    const invoice = await invoices.find(db, organizations.requireOrganization(principal), invoice_id)
    if (!invoice) throw notFound('invoice')
    return invoice
  },
  execute: async (context, _input, invoice) => ({
    ...toRecord(invoice),
    lines: invoice.lines,
    document_url: await documentUrl(context, invoice),
  }),
})

/** The PDF is rendered on the first request, and again after the status of the invoice has changed. */
async function documentUrl({ storage, printer, signal }: Context, invoice: Invoice): Promise<string> {
  const at = { bucket: BUCKET, key: `${invoice.organizationId}/${invoice.number}-${invoice.status}.pdf` }
  if (!(await storage.stat(at, signal).catch(() => null))) {
    await storage.createBucket(BUCKET)
    const body = await printer.print(invoice.organizationId, 'invoice', toPrinted(invoice))
    await storage.put(at, body, { contentType: 'application/pdf' })
  }
  return await storage.signGet({ ...at, fileName: `${invoice.number}.pdf`, expiresInSeconds: LINK_SECONDS })
}

function toPrinted(invoice: Invoice): PrintedInvoice {
  const { name, abn, tax_number, billing_email } = invoice.customer
  const dollars = (cents: number) => audOf(cents).toFixed(2)
  return {
    number: invoice.number,
    period: invoice.period,
    status: invoice.status,
    issuedAt: invoice.issuedAt,
    dueAt: invoice.dueAt,
    customer: [name, abn && `ABN ${abn}`, tax_number && `Tax number ${tax_number}`, billing_email].filter(
      (line) => line !== null && line !== '',
    ) as string[],
    lines: invoice.lines.map(({ description, quantity, amount_aud }) => ({ description, quantity, amount: amount_aud.toFixed(2) })),
    subtotal: dollars(invoice.subtotalCents),
    gst: dollars(invoice.gstCents),
    total: dollars(invoice.totalCents),
  }
}
