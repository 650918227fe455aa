/** Invoices that were not paid when their month was closed. A card is charged by an invoice of the processor's own. */
import type { Db } from '#db/tables.ts'
import type { Payments } from '#ports/payments.ts'
import { hasDefaultCard } from './billing-account.ts'
import { tellIfLow } from './low-balance.ts'
import { customerOf, type PaymentContext } from './processor.ts'
import * as invoices from './invoice.ts'
import type { Invoice } from './invoice.ts'
import * as ledgers from './ledger.ts'

/** Takes what an invoice is owed: from credits that have come since, else from the card. True when it is paid now. */
export async function collect(context: PaymentContext, invoiceId: string): Promise<boolean> {
  const { db, payments } = context
  const found = await invoices.find(db, null, invoiceId)
  if (!found || found.status === 'paid') return false
  if (!found.processorInvoiceId && (await payFromWallet(context, found))) return true
  return payments ? await payByCard(context, payments, found) : false
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
    await tellIfLow(change, organizationId, after)
    return await invoices.markPaid(tx, id, now)
  })
}

async function payByCard(context: PaymentContext, payments: Payments, found: Invoice): Promise<boolean> {
  const { db } = context
  const { id, organizationId } = found
  if (!(await hasDefaultCard(db, organizationId))) {
    await invoices.noteFailure(db, id, 'payment-method-required')
    return false
  }
  const customerId = await customerOf(context, payments, organizationId)
  const processorId = found.processorInvoiceId ?? (await createAtProcessor(db, payments, customerId, found))
  const { status } = await payments.payInvoice(processorId)
  if (status !== 'paid') {
    await invoices.noteFailure(db, id, 'card-declined')
    return false
  }
  return await context.commit(organizationId, 'billing.collect_invoice', ({ tx, clock }) => invoices.markPaid(tx, id, clock.now()))
}

async function createAtProcessor(db: Db, payments: Payments, customerId: string, found: Invoice): Promise<string> {
  const { id, organizationId, number, period, dueCents } = found
  const made = await payments.createInvoice(
    {
      customerId,
      cents: dueCents,
      description: `Invoice ${number} for ${period}`,
      metadata: { invoice_id: id, organization_id: organizationId },
    },
    `invoice:${id}`,
  )
  await invoices.noteProcessorInvoice(db, id, made.id)
  return made.id
}
