import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { planOf, PLANS } from '#model/plans/plan.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_PLANS, PlanRecord, toPlan } from './plan.wire.ts'

/** The available plans, smallest first, and the plan of the caller's organization. */
export default operation({
  id: 'billing.plans.list',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({
    plans: Type.Array(PlanRecord, { description: 'Available plans' }),
    count: Type.Integer({ description: 'Number of results returned' }),
    current_plan_id: Described(Nullable(Type.String()), 'Plan ID of the organization; null without an organization'),
  }),
  example: { input: {}, output: { plans: EXAMPLE_PLANS, count: EXAMPLE_PLANS.length, current_plan_id: 'free' } },
}).handle({
  async execute({ db, principal: { organizationId } }) {
    return { plans: PLANS.map(toPlan), count: PLANS.length, current_plan_id: organizationId ? (await planOf(db, organizationId)).id : null }
  },
})
