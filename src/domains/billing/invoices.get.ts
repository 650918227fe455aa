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

/** One invoice with its lines, and a link to it as PDF that holds for 15 minutes. */
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
    const found = await invoices.find(db, organizations.requireOrganization(principal), invoice_id)
    if (!found) throw notFound('invoice')
    return found
  },
  execute: async (context, _input, found) => ({ ...toRecord(found), lines: found.lines, document_url: await documentUrl(context, found) }),
})

/** The document is drawn when it is first asked for, and again when the invoice was paid since. */
async function documentUrl({ storage, printer, signal }: Context, found: Invoice): Promise<string> {
  const at = { bucket: BUCKET, key: `${found.organizationId}/${found.number}-${found.status}.pdf` }
  if (!(await storage.stat(at, signal).catch(() => null))) {
    await storage.createBucket(BUCKET)
    const body = await printer.print(found.organizationId, 'invoice', printed(found))
    await storage.put(at, body, { contentType: 'application/pdf' })
  }
  return await storage.signGet({ ...at, fileName: `${found.number}.pdf`, expiresInSeconds: LINK_SECONDS })
}

function printed(found: Invoice): PrintedInvoice {
  const { name, abn, tax_number, billing_email } = found.customer
  const dollars = (cents: number) => audOf(cents).toFixed(2)
  return {
    number: found.number,
    period: found.period,
    status: found.status,
    issuedAt: found.issuedAt,
    dueAt: found.dueAt,
    customer: [name, abn && `ABN ${abn}`, tax_number && `Tax number ${tax_number}`, billing_email].filter(
      (line) => line !== null && line !== '',
    ) as string[],
    lines: found.lines.map(({ description, quantity, amount_aud }) => ({ description, quantity, amount: amount_aud.toFixed(2) })),
    subtotal: dollars(found.subtotalCents),
    gst: dollars(found.gstCents),
    total: dollars(found.totalCents),
  }
}
