/** Invoices that were not paid when their month was closed. A card is charged by an invoice of the processor's own. */
import { hasDefaultCard } from './billing-account.ts'
import { watchBalance } from './low-balance.ts'
import { type PaymentContext, requirePayments } from './processor.ts'
import { customerOf } from './card-payment.ts'
import * as invoice from './invoice.ts'
import type { Invoice } from './invoice.ts'
import * as ledger from './ledger.ts'

/** Takes what an invoice is owed: from credits that have come since, else from the card. True when it is paid now. */
export async function collect(context: PaymentContext, invoiceId: string): Promise<boolean> {
  const { db } = context
  const found = await invoice.find(db, null, invoiceId)
  if (!found || found.status === 'paid') return false
  if (!found.processor_invoice_id && (await payFromWallet(context, found))) return true
  if (!context.payments) return false
  const payments = requirePayments(context)
  if (!(await hasDefaultCard(db, found.org_id))) {
    await invoice.noteFailure(db, found.id, 'payment-method-required')
    return false
  }
  const customerId = await customerOf(context, payments, found.org_id)
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
  return await context.commit(found.org_id, 'billing.collect_invoice', ({ tx, clock }) => invoice.markPaid(tx, found.id, clock.now()))
}

async function payFromWallet(context: PaymentContext, { id, org_id, number, due_cents }: Invoice): Promise<boolean> {
  return await context.commit(org_id, 'billing.collect_invoice', async (change) => {
    const { tx, clock, invocationId } = change
    const now = clock.now()
    if (!(await invoice.lockUnpaid(tx, id))) return false
    const after = await ledger.debit(
      tx,
      { organizationId: org_id, invocationId, now, reference: { type: 'invoice', id }, description: `Invoice ${number}` },
      'capture',
      due_cents,
    )
    if (!after) return false
    await watchBalance(change, org_id, after)
    return await invoice.markPaid(tx, id, now)
  })
}
