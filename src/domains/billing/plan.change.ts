import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Choice, Closed, Described, Timestamp } from '#core/shapes.ts'
import { billingModeOf, hasDefaultCard, lockWallet, requireBillingAdmin } from '#model/money/billing-account.ts'
import { PLANS, requireKnownPlan, type Plan } from '#model/plans/plan.ts'
import { changePlan } from '#model/money/plan-change.ts'
import * as retention from '#model/imagery/retention.ts'
import { applyPlanTask } from '#model/money/tasks.ts'
import { operation, type Context } from '#operation.ts'
import { EXAMPLE_PLANS, PlanRecord, toPlan } from './plan.wire.ts'

/** Items whose retention dates are recomputed in the call itself; a task in the background does the rest. */
const MAX_ITEMS_IN_CALL = 5_000

/**
 * Moves the organization to another plan immediately. Nothing is charged here: the fee is part of the monthly invoice, prorated by
 * day. An upgrade reactivates expired items; a downgrade starts the new retention period today. Usage above the new limits is kept
 * and listed in `exceeded`, but new usage is rejected until it is below them.
 */
export default operation({
  id: 'billing.plan.change',
  scope: 'billing:write',
  tier: 'compute',
  events: ['item.updated'],
  input: Closed({
    plan_id: Choice(
      PLANS.map(({ id }) => id),
      { description: 'ID of the plan to switch to' },
    ),
  }),
  output: Closed(
    {
      plan: PlanRecord,
      previous_plan_id: Type.String({ description: 'Plan ID before the change' }),
      changed: Type.Boolean({ description: 'Whether the plan changed' }),
      effective_at: Described(Timestamp, 'Time the change takes effect'),
      reactivated_items: Type.Integer({ description: 'Number of expired items that were reactivated' }),
      continues_in_background: Type.Boolean({ description: 'Whether further items are being reactivated in the background' }),
      exceeded: Type.Array(
        Closed({
          limit: Choice(['storage_bytes', 'compute_jobs', 'processing_jobs'], { description: 'Limit that is exceeded' }),
          used: Type.Integer({ description: 'Current usage' }),
          allowed: Type.Integer({ description: 'Amount the new plan allows' }),
          message: Type.String({ description: 'Explanation for the user' }),
        }),
        { description: 'Usage above the limits of the new plan; existing data stays, new use is refused' },
      ),
    },
    { description: 'The new plan and the effects of the change' },
  ),
  example: {
    input: { plan_id: 'team' },
    output: {
      plan: EXAMPLE_PLANS[1]!,
      previous_plan_id: 'free',
      changed: true,
      effective_at: '2026-03-01T09:45:00.000Z',
      reactivated_items: 12,
      continues_in_background: false,
      exceeded: [],
    },
  },
}).handle({
  async check({ db, principal }, { plan_id }) {
    const organizationId = await requireBillingAdmin(db, principal)
    const plan = requireKnownPlan(plan_id)
    await requirePayable(db, organizationId, plan)
    return { organizationId, plan }
  },
  async execute({ tx, principal, clock, invocationId, tasks }, _input, { organizationId, plan }) {
    const now = clock.now()
    const change = await changePlan(tx, organizationId, plan, { by: principal.userId, invocationId, now })
    await lockWallet(tx, organizationId) // Waits for a card that is being removed, which then no longer counts.
    await requirePayable(tx, organizationId, plan)
    if (!change.changed)
      return {
        plan: toPlan(plan),
        previous_plan_id: plan.id,
        changed: false,
        effective_at: change.since.toISOString(),
        reactivated_items: 0,
        continues_in_background: false,
        exceeded: change.exceeded,
      }
    const { moved, next } = await retention.recalculateDates(tx, organizationId, {
      from: null,
      limit: MAX_ITEMS_IN_CALL,
      revive: change.isUpgrade,
      now,
    })
    await retention.report(tx, moved, invocationId, now)
    if (next)
      await tasks.enqueue(applyPlanTask, {
        organization_id: organizationId,
        project_id: next.projectId,
        seq: next.seq,
        revive: change.isUpgrade,
      })
    return {
      plan: toPlan(plan),
      previous_plan_id: change.previous.id,
      changed: true,
      effective_at: now.toISOString(),
      reactivated_items: moved.length,
      continues_in_background: next !== null,
      exceeded: change.exceeded,
    }
  },
})

/** A paid plan requires a default card or monthly invoicing. */
async function requirePayable(db: Context['db'], organizationId: string, plan: Plan): Promise<void> {
  if (plan.monthlyAud === 0 || (await billingModeOf(db, organizationId)) === 'enterprise' || (await hasDefaultCard(db, organizationId)))
    return
  throw problem(
    'payment-method-required',
    `The plan '${plan.name}' requires a default card; add one with payment_methods.attach, then change the plan`,
  )
}
