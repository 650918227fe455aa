import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { PeriodName, periodNamed, periodOf } from '#core/period.ts'
import { notFound } from '#core/problem.ts'
import { Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import * as accrual from '#model/money/accrual.ts'
import * as organization from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { Aud, Credits, Currency, OptionalPeriod } from './wire.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

const Entry = Closed(
  {
    reference_type: Type.String(),
    reference_id: Type.String(),
    credits: Credits,
    aud: Aud,
    settled_at: Timestamp,
    invoiced_reference: Nullable(Type.String()),
  },
  { $id: 'Accrual' },
)

/** Operators only: what an enterprise organization owes for a month so far; by default the current one. */
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
      entries: [
        {
          reference_type: 'order',
          reference_id: '0199f2d5-0000-7000-8000-000000000001',
          credits: 12_000,
          aud: 120,
          settled_at: EXAMPLE_AT,
          invoiced_reference: null,
        },
      ],
    },
  },
}).handle({
  async check({ db, clock }, { organization_id, period }) {
    if (!(await organization.exists(db, organization_id))) throw notFound('organization')
    return period ? periodNamed(period) : periodOf(clock.now())
  },
  async execute({ db }, { organization_id }, period) {
    const found = await accrual.list(db, organization_id, period)
    const sum = (rows: readonly accrual.Accrual[]) => audOf(rows.reduce((total, { credits }) => total + credits, 0))
    const entries = found.map(({ referenceType, referenceId, credits, settledAt, invoicedReference }) => ({
      reference_type: referenceType,
      reference_id: referenceId,
      credits,
      aud: audOf(credits),
      settled_at: settledAt.toISOString(),
      invoiced_reference: invoicedReference,
    }))
    return {
      organization_id,
      period: period.name,
      currency: 'AUD' as const,
      accrued_aud: sum(found),
      invoiced_aud: sum(found.filter((row) => row.invoicedReference !== null)),
      uninvoiced_aud: sum(found.filter((row) => row.invoicedReference === null)),
      entries,
    }
  },
})
