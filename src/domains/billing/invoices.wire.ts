import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { PeriodName } from '#core/period.ts'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { Invoice } from '#model/money/invoice.ts'
import { Aud, Currency } from './wire.ts'

export const InvoiceRecord = Closed(
  {
    id: Described(Uuid, 'Invoice ID'),
    number: Type.String({ description: 'Invoice number' }),
    period: Described(PeriodName, 'Billing month as `YYYY-MM`'),
    status: Choice(['open', 'paid', 'past_due'], { description: 'Invoice status' }),
    currency: Described(Currency, 'Currency as an ISO 4217 code'),
    subtotal_aud: Described(Aud, 'Subtotal before tax in Australian dollars'),
    gst_aud: Described(Aud, 'GST in Australian dollars'),
    total_aud: Described(Aud, 'Total including tax in Australian dollars'),
    due_aud: Described(Aud, 'Amount still due in Australian dollars'),
    issued_at: Described(Timestamp, 'Issue time'),
    due_at: Described(Timestamp, 'Payment due time'),
    paid_at: Described(Nullable(Timestamp), 'Payment time; null until paid'),
    reference: Described(Nullable(Type.String()), 'Payment reference; null if none'),
  },
  { $id: 'Invoice', description: 'An invoice' },
)

export const InvoiceLineRecord = Closed(
  {
    kind: Choice(['plan', 'order', 'job', 'shortfall'], { description: 'What the line charges for' }),
    description: Type.String({ description: 'Line text, as printed on the invoice' }),
    reference_id: Described(Nullable(Type.String()), 'ID of the charged order or job; null for other lines'),
    quantity: Type.Number({ description: 'Quantity charged' }),
    amount_aud: Described(Aud, 'Line amount before tax in Australian dollars'),
  },
  { $id: 'InvoiceLine', description: 'A line of an invoice' },
)

export function toRecord(invoice: Invoice) {
  const { id, number, period, status, reference } = invoice
  return {
    id,
    number,
    period,
    status,
    reference,
    currency: 'AUD' as const,
    subtotal_aud: audOf(invoice.subtotalCents),
    gst_aud: audOf(invoice.gstCents),
    total_aud: audOf(invoice.totalCents),
    due_aud: audOf(invoice.dueCents),
    issued_at: invoice.issuedAt.toISOString(),
    due_at: invoice.dueAt.toISOString(),
    paid_at: invoice.paidAt?.toISOString() ?? null,
  }
}

export const EXAMPLE_INVOICE = {
  id: '0199f2d3-0000-7000-8000-000000000001',
  number: 'GT-00000042',
  period: '2026-02',
  status: 'paid' as const,
  currency: 'AUD' as const,
  subtotal_aud: 149,
  gst_aud: 14.9,
  total_aud: 163.9,
  due_aud: 0,
  issued_at: '2026-03-01T00:10:00.000Z',
  due_at: '2026-03-08T00:10:00.000Z',
  paid_at: '2026-03-01T00:10:00.000Z',
  reference: null,
}

export const EXAMPLE_LINE = {
  kind: 'plan' as const,
  description: 'Plan Team, 28 of 28 days',
  reference_id: 'team',
  quantity: 1,
  amount_aud: 149,
}
