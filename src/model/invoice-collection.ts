/** Takes what an invoice is owed from the default card, as an invoice of the processor's own. */
import type { Outside } from './books.ts'
import { requirePayments } from './books.ts'
import { hasDefaultCard } from './billing-account.ts'
import { customerOf } from './card-payment.ts'
import * as invoice from './invoice.ts'

export async function collect(outside: Outside, invoiceId: string): Promise<boolean> {
  const { db } = outside
  const found = await invoice.find(db, null, invoiceId)
  if (!found || found.status === 'paid') return false
  const payments = requirePayments(outside)
  if (!(await hasDefaultCard(db, found.org_id))) {
    await invoice.noteFailure(db, found.id, 'payment-method-required')
    return false
  }
  const customerId = await customerOf(outside, payments, found.org_id)
  let processorId = found.processor_invoice_id
  if (!processorId) {
    processorId = (await payments.createInvoice({ customerId, cents: found.due_cents, description: `Invoice ${found.number} for ${found.period}`, metadata: { invoice_id: found.id, organization_id: found.org_id } }, `invoice:${found.id}`)).id
    await invoice.noteProcessorInvoice(db, found.id, processorId)
  }
  const paid = await payments.payInvoice(processorId)
  if (paid.status !== 'paid') {
    await invoice.noteFailure(db, found.id, 'card-declined')
    return false
  }
  return await outside.aside(found.org_id, 'billing.collect_invoice', ({ tx, clock }) => invoice.markPaid(tx, found.id, clock.now()))
}
