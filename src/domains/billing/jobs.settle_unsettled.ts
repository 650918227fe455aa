import Type from 'typebox'
import { Closed, Limit, Nullable, Uuid } from '#core/shapes.ts'
import { settleReservations } from '#model/money/payment-sweep.ts'
import { operation } from '#operation.ts'

/** Operators only: settles reservations that are decided but not settled, and releases those whose job never reported in time. */
export default operation({
  id: 'billing.jobs.settle_unsettled',
  scope: 'admin:write',
  tier: 'compute',
  input: Closed({ limit: Limit(500, 5_000), organization_id: Type.Optional(Nullable(Uuid)) }),
  output: Closed({ seen: Type.Integer(), settled: Type.Integer(), released: Type.Integer() }),
  example: { input: { limit: 500 }, output: { seen: 3, settled: 1, released: 2 } },
}).handle({
  prepare: async (context, { limit, organization_id }) =>
    await settleReservations(context, { organizationId: organization_id ?? null, limit }),
  execute: async (_context, _input, _facts, run) => run,
})
