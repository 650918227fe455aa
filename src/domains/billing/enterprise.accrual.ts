import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { PeriodName, periodNamed, periodOf } from '#core/period.ts'
import { notFound } from '#core/problem.ts'
import { Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import * as accruals from '#model/money/accrual.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { Aud, Credits, Currency, OptionalPeriod } from './wire.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

const Entry = Closed(
  {
    reference_type: Type.String(),
    reference_id: Type.String(),
    provisional: Type.Boolean({ description: 'True until the order or job has ended; provisional entries are not invoiced' }),
    provisional_credits: Type.With(Credits, { description: 'Credits agreed when the order or job was placed' }),
    credits: Type.Integer({ description: 'Credits owed: those delivered, once it has ended; negative for a refund of an earlier month' }),
    aud: Type.With(Aud, { description: 'Amount in Australian dollars' }),
    accrued_at: Type.With(Timestamp, { description: 'Time it was placed or accepted' }),
    settled_at: Nullable(Type.With(Timestamp, { description: 'Time it ended; null while provisional' })),
    invoiced_reference: Nullable(Type.String()),
  },
  { $id: 'Accrual' },
)

/**
 * Operators only: what an enterprise organization owes for orders and jobs that ended in a month, and provisionally for those still
 * open at its end; by default the current month.
 */
export default operation({
  id: 'billing.enterprise.accrual',
  scope: 'admin:read',
  tier: 'read',
  input: Closed({ organization_id: Uuid, period: OptionalPeriod }),
  output: Closed({
    organization_id: Uuid,
    period: PeriodName,
    currency: Currency,
    accrued_aud: Aud,
    invoiced_aud: Aud,
    uninvoiced_aud: Aud,
    provisional_aud: Type.With(Aud, { description: 'Amount for orders and jobs still open at the end of the month' }),
    entries: Type.Array(Entry),
  }),
  example: {
    input: { organization_id: EXAMPLE_IDS.organization, period: '2026-03' },
    output: {
      organization_id: EXAMPLE_IDS.organization,
      period: '2026-03',
      currency: 'AUD',
      accrued_aud: 120,
      invoiced_aud: 0,
      uninvoiced_aud: 120,
      provisional_aud: 0,
      entries: [
        {
          reference_type: 'order',
          reference_id: '0199f2d5-0000-7000-8000-000000000001',
          provisional: false,
          provisional_credits: 15_000,
          credits: 12_000,
          aud: 120,
          accrued_at: EXAMPLE_AT,
          settled_at: EXAMPLE_AT,
          invoiced_reference: null,
        },
      ],
    },
  },
}).handle({
  async check({ db, clock }, { organization_id, period }) {
    if (!(await organizations.exists(db, organization_id))) throw notFound('organization')
    return period ? periodNamed(period) : periodOf(clock.now())
  },
  async execute({ db }, { organization_id }, period) {
    const entries = await accruals.list(db, organization_id, period)
    const sum = (rows: readonly accruals.Accrual[]) => audOf(rows.reduce((total, { credits }) => total + credits, 0))
    const final = entries.filter(({ settledAt }) => settledAt !== null)
    return {
      organization_id,
      period: period.name,
      currency: 'AUD' as const,
      accrued_aud: sum(final),
      invoiced_aud: sum(final.filter((row) => row.invoicedReference !== null)),
      uninvoiced_aud: sum(final.filter((row) => row.invoicedReference === null)),
      provisional_aud: sum(entries.filter(({ settledAt }) => settledAt === null)),
      entries: entries.map(entryOf),
    }
  },
})

const entryOf = ({
  referenceType,
  referenceId,
  provisionalCredits,
  credits,
  accruedAt,
  settledAt,
  invoicedReference,
}: accruals.Accrual) => ({
  reference_type: referenceType,
  reference_id: referenceId,
  provisional: settledAt === null,
  provisional_credits: provisionalCredits,
  credits,
  aud: audOf(credits),
  accrued_at: accruedAt.toISOString(),
  settled_at: settledAt?.toISOString() ?? null,
  invoiced_reference: invoicedReference,
})
