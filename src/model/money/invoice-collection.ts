/** Invoices that were not paid when their month was closed. A card is charged by an invoice of the processor's own. */
import { hasDefaultCard } from './billing-account.ts'
import { requirePayments, watchBalance, type Outside } from './books.ts'
import { customerOf } from './card-payment.ts'
import * as invoice from './invoice.ts'
import type { Invoice } from './invoice.ts'
import * as ledger from './ledger.ts'

/** Takes what an invoice is owed: from credits that have come since, else from the card. True when it is paid now. */
export async function collect(outside: Outside, invoiceId: string): Promise<boolean> {
  const { db } = outside
  const found = await invoice.find(db, null, invoiceId)
  if (!found || found.status === 'paid') return false
  if (!found.processor_invoice_id && (await payFromWallet(outside, found))) return true
  if (!outside.payments) return false
  const payments = requirePayments(outside)
  if (!(await hasDefaultCard(db, found.org_id))) {
    await invoice.noteFailure(db, found.id, 'payment-method-required')
    return false
  }
  const customerId = await customerOf(outside, payments, found.org_id)
  let processorId = found.processor_invoice_id
  if (!processorId) {
    processorId = (
      await payments.createInvoice(
        {
          customerId,
          cents: found.due_cents,
          description: `Invoice ${found.number} for ${found.period}`,
          metadata: { invoice_id: found.id, organization_id: found.org_id },
        },
        `invoice:${found.id}`,
      )
    ).id
    await invoice.noteProcessorInvoice(db, found.id, processorId)
  }
  const paid = await payments.payInvoice(processorId)
  if (paid.status !== 'paid') {
    await invoice.noteFailure(db, found.id, 'card-declined')
    return false
  }
  return await outside.aside(found.org_id, 'billing.collect_invoice', ({ tx, clock }) => invoice.markPaid(tx, found.id, clock.now()))
}

async function payFromWallet(outside: Outside, { id, org_id, number, due_cents }: Invoice): Promise<boolean> {
  return await outside.aside(org_id, 'billing.collect_invoice', async (books) => {
    const { tx, clock, invocationId } = books
    const now = clock.now()
    if (!(await invoice.lockUnpaid(tx, id))) return false
    const after = await ledger.debit(
      tx,
      { organizationId: org_id, invocationId, now, reference: { type: 'invoice', id }, description: `Invoice ${number}` },
      'capture',
      due_cents,
    )
    if (!after) return false
    await watchBalance(books, org_id, after)
    return await invoice.markPaid(tx, id, now)
  })
}
