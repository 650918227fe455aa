import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { PeriodName, periodNamed } from '#core/period.ts'
import { notFound, problem } from '#core/problem.ts'
import { Choice, Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import * as invoice from '#model/money/invoice.ts'
import * as organization from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_COMMITMENT } from './commitments.wire.ts'
import { EXAMPLE_ORGANIZATION } from './wire.ts'

const Line = Closed(
  {
    kind: Choice(['plan', 'order', 'job', 'shortfall']),
    description: Type.String(),
    reference_id: Nullable(Type.String()),
    quantity: Type.Number(),
    amount_aud: Type.Number(),
  },
  { $id: 'StatementLine' },
)
const Standing = Closed(
  {
    id: Uuid,
    name: Type.String(),
    delivered_to_date: Type.Number(),
    remaining: Type.Number(),
    shortfall: Type.Number(),
    status: Type.String(),
  },
  { $id: 'StatementCommitment' },
)

/** What a settled month came to, with the commitments as they stood at its end; by default the last settled month. */
export default operation({
  id: 'organizations.commitments.statement',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({ organization_id: Type.String({ maxLength: 100 }), period: Type.Optional(Nullable(PeriodName)) }),
  output: Closed({
    organization_id: Uuid,
    period: PeriodName,
    currency: Type.Literal('AUD'),
    lines: Type.Array(Line),
    subtotal_aud: Type.Number(),
    gst_aud: Type.Number(),
    total_aud: Type.Number(),
    commitments: Type.Array(Standing),
    settled_at: Timestamp,
  }),
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
    const own = organization.requireNamedOrganization(principal, organization_id)
    if (period && periodNamed(period).start > clock.now()) throw problem('bad-request', `The month ${period} has not begun`)
    const found = period ? await invoice.findByPeriod(db, own, period) : await invoice.findLatest(db, own)
    if (!found) throw notFound('statement')
    return found
  },
  async execute(_context, _input, found) {
    return {
      organization_id: found.organizationId,
      period: found.period,
      currency: 'AUD' as const,
      lines: found.lines,
      subtotal_aud: audOf(found.subtotalCents),
      gst_aud: audOf(found.gstCents),
      total_aud: audOf(found.totalCents),
      commitments: found.commitments,
      settled_at: found.issuedAt.toISOString(),
    }
  },
})
