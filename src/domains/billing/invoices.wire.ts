import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { PeriodName } from '#core/period.ts'
import { Choice, Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { Invoice } from '#model/money/invoice.ts'
import { Aud, Currency } from './wire.ts'

export const InvoiceRecord = Closed(
  {
    id: Uuid,
    number: Type.String(),
    period: PeriodName,
    status: Choice(['open', 'paid', 'past_due']),
    currency: Currency,
    subtotal_aud: Aud,
    gst_aud: Aud,
    total_aud: Aud,
    due_aud: Aud,
    issued_at: Timestamp,
    due_at: Timestamp,
    paid_at: Nullable(Timestamp),
    reference: Nullable(Type.String()),
  },
  { $id: 'Invoice' },
)

export const InvoiceLineRecord = Closed(
  {
    kind: Choice(['plan', 'order', 'job', 'shortfall']),
    description: Type.String(),
    reference_id: Nullable(Type.String()),
    quantity: Type.Number(),
    amount_aud: Aud,
  },
  { $id: 'InvoiceLine' },
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
