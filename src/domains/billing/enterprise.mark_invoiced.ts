import Type from 'typebox'
import { audOf } from '#core/money.ts'
import { PeriodName, periodBefore, periodNamed } from '#core/period.ts'
import { notFound } from '#core/problem.ts'
import { Closed, NotBlank, Nullable, Uuid } from '#core/shapes.ts'
import * as accruals from '#model/money/accrual.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { Aud, OptionalPeriod } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const MAX_ORDERS = 10_000

/**
 * Operators only: marks what an enterprise organization owes for a month as invoiced, by default everything of the previous
 * month. Entries that already have a reference keep it.
 */
export default operation({
  id: 'billing.enterprise.mark_invoiced',
  scope: 'admin:write',
  tier: 'compute',
  input: Closed({
    organization_id: Uuid,
    reference: NotBlank(200),
    period: OptionalPeriod,
    order_ids: Type.Optional(Nullable(Type.Array(Type.String({ maxLength: 100 }), { maxItems: MAX_ORDERS }))),
    note: Type.Optional(Nullable(Type.String({ maxLength: 2_000 }))),
  }),
  output: Closed({ organization_id: Uuid, period: PeriodName, reference: Type.String(), marked: Type.Integer(), marked_aud: Aud }),
  example: {
    input: { organization_id: EXAMPLE_IDS.organization, reference: 'INV-2026-0042', period: '2026-02' },
    output: { organization_id: EXAMPLE_IDS.organization, period: '2026-02', reference: 'INV-2026-0042', marked: 7, marked_aud: 840 },
  },
}).handle({
  async check({ db, clock }, { organization_id, period }) {
    if (!(await organizations.exists(db, organization_id))) throw notFound('organization')
    return period ? periodNamed(period) : periodBefore(clock.now())
  },
  async execute({ tx, clock, attributeTo }, { organization_id, reference, order_ids, note }, period) {
    attributeTo(organization_id)
    const { count, credits } = await accruals.markInvoiced(
      tx,
      organization_id,
      period,
      { reference, referenceIds: order_ids ?? null },
      clock.now(),
    )
    if (!order_ids) await accruals.noteInvoice(tx, organization_id, period.name, reference, note ?? null)
    return { organization_id, period: period.name, reference, marked: count, marked_aud: audOf(credits) }
  },
})
