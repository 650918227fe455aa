import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { PeriodName, periodNamed } from '#core/period.ts'
import { notFound, problem } from '#core/problem.ts'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import * as invoices from '#model/money/invoice.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_COMMITMENT } from './commitments.wire.ts'
import { EXAMPLE_ORGANIZATION } from './wire.ts'

const Line = Closed(
  {
    kind: Choice(['plan', 'order', 'job', 'shortfall'], { description: 'What the line charges for' }),
    description: Type.String({ description: 'Line text, as printed on the statement' }),
    reference_id: Described(Nullable(Type.String()), 'ID of the charged order or job; null for other lines'),
    quantity: Type.Number({ description: 'Quantity charged' }),
    amount_aud: Type.Number({ description: 'Line amount before tax in Australian dollars' }),
  },
  { $id: 'StatementLine', description: 'A line of a statement' },
)
const Progress = Closed(
  {
    id: Described(Uuid, 'Commitment ID'),
    name: Type.String({ description: 'Name of the commitment' }),
    delivered_to_date: Type.Number({ description: 'Amount delivered so far' }),
    remaining: Type.Number({ description: 'Amount still to be bought' }),
    shortfall: Type.Number({ description: 'Amount short at the end of the period' }),
    status: Type.String({ description: 'Commitment status at the end of the month' }),
  },
  { $id: 'StatementCommitment', description: 'Progress of a commitment' },
)

/** Returns the statement of a settled month, by default the latest, with the commitments at its end. */
export default operation({
  id: 'organizations.commitments.statement',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({
    organization_id: Type.String({ maxLength: 100, description: "Organization ID; must be the caller's organization" }),
    period: Described(Type.Optional(Nullable(PeriodName)), 'Month as `YYYY-MM`; null for the latest statement'),
  }),
  output: Closed(
    {
      organization_id: Described(Uuid, 'Organization ID'),
      period: Described(PeriodName, 'Month as `YYYY-MM`'),
      currency: Type.Literal('AUD', { description: 'Currency as an ISO 4217 code' }),
      lines: Type.Array(Line, { description: 'Statement lines' }),
      subtotal_aud: Type.Number({ description: 'Subtotal before tax in Australian dollars' }),
      gst_aud: Type.Number({ description: 'GST in Australian dollars' }),
      total_aud: Type.Number({ description: 'Total including tax in Australian dollars' }),
      commitments: Type.Array(Progress, { description: 'Commitments that apply to the month' }),
      settled_at: Described(Timestamp, 'Settlement time'),
    },
    { description: 'Statement of the month' },
  ),
  example: {
    input: { organization_id: EXAMPLE_ORGANIZATION.id, period: '2026-02' },
    output: {
      organization_id: EXAMPLE_ORGANIZATION.id,
      period: '2026-02',
      currency: 'AUD',
      lines: [
        {
          kind: 'order',
          description: 'Order 0199f2d5-0000-7000-8000-000000000001',
          reference_id: '0199f2d5-0000-7000-8000-000000000001',
          quantity: 1,
          amount_aud: 120,
        },
      ],
      subtotal_aud: 120,
      gst_aud: 12,
      total_aud: 132,
      commitments: [
        { id: EXAMPLE_COMMITMENT.id, name: 'Coastal 2026', delivered_to_date: 12_400, remaining: 37_600, shortfall: 0, status: 'active' },
      ],
      settled_at: '2026-03-01T00:10:00.000Z',
    },
  },
}).handle({
  async check({ db, principal, clock }, { organization_id, period }) {
    const organizationId = organizations.requireNamedOrganization(principal, organization_id)
    if (period && periodNamed(period).start > clock.now()) throw problem('bad-request', `The month ${period} is in the future`)
    const invoice = period ? await invoices.findByPeriod(db, organizationId, period) : await invoices.findLatest(db, organizationId)
    if (!invoice) throw notFound('statement')
    return invoice
  },
  async execute(_context, _input, invoice) {
    return {
      organization_id: invoice.organizationId,
      period: invoice.period,
      currency: 'AUD' as const,
      lines: invoice.lines,
      subtotal_aud: audOf(invoice.subtotalCents),
      gst_aud: audOf(invoice.gstCents),
      total_aud: audOf(invoice.totalCents),
      commitments: invoice.commitments,
      settled_at: invoice.issuedAt.toISOString(),
    }
  },
})
