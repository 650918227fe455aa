/** Collects invoices that were not paid when their month was closed. A card is charged by an invoice of the payment processor. */
import type { Db } from '#db/tables.ts'
import type { Payments } from '#ports/payments.ts'
import { hasDefaultCard } from './billing-account.ts'
import { reportLowBalance } from './low-balance.ts'
import { customerOf, type PaymentContext } from './processor.ts'
import * as invoices from './invoice.ts'
import type { Invoice } from './invoice.ts'
import * as ledgers from './ledger.ts'

/** Collects what is due: from credits added since, otherwise from the card. Returns true if the invoice is now paid. */
export async function collect(context: PaymentContext, invoiceId: string): Promise<boolean> {
  const { db, payments } = context
  const invoice = await invoices.find(db, null, invoiceId)
  if (!invoice || invoice.status === 'paid') return false
  if (!invoice.processorInvoiceId && (await payFromWallet(context, invoice))) return true
  return payments ? await payByCard(context, payments, invoice) : false
}

async function payFromWallet(context: PaymentContext, { id, organizationId, number, dueCents }: Invoice): Promise<boolean> {
  return await context.commit(organizationId, 'billing.collect_invoice', async (change) => {
    const { tx, clock, invocationId } = change
    const now = clock.now()
    if (!(await invoices.lockUnpaid(tx, id))) return false
    const after = await ledgers.debit(
      tx,
      { organizationId, invocationId, now, reference: { type: 'invoice', id }, description: `Invoice ${number}` },
      'capture',
      dueCents,
    )
    if (!after) return false
    await reportLowBalance(change, organizationId, after)
    return await invoices.markPaid(tx, id, now)
  })
}

async function payByCard(context: PaymentContext, payments: Payments, invoice: Invoice): Promise<boolean> {
  const { db } = context
  const { id, organizationId } = invoice
  if (!(await hasDefaultCard(db, organizationId))) {
    await invoices.noteFailure(db, id, 'payment-method-required')
    return false
  }
  const customerId = await customerOf(context, payments, organizationId)
  const processorId = invoice.processorInvoiceId ?? (await createAtProcessor(db, payments, customerId, invoice))
  const { status } = await payments.payInvoice(processorId)
  if (status !== 'paid') {
    await invoices.noteFailure(db, id, 'card-declined')
    return false
  }
  return await context.commit(organizationId, 'billing.collect_invoice', ({ tx, clock }) => invoices.markPaid(tx, id, clock.now()))
}

async function createAtProcessor(db: Db, payments: Payments, customerId: string, invoice: Invoice): Promise<string> {
  const { id, organizationId, number, period, dueCents } = invoice
  const created = await payments.createInvoice(
    {
      customerId,
      cents: dueCents,
      description: `Invoice ${number} for ${period}`,
      metadata: { invoice_id: id, organization_id: organizationId },
    },
    `invoice:${id}`,
  )
  await invoices.noteProcessorInvoice(db, id, created.id)
  return created.id
}
