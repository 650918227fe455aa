/** The change of a plan: what an organization is allowed from now on, and what it already has more of. */
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '#db/tables.ts'
import { PLANS, requireKnownPlan, type Plan } from '#model/plans/plan.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as usage from '#model/plans/usage.ts'

interface Exceeded {
  limit: 'storage_bytes' | usage.JobMeter
  used: number
  allowed: number
  message: string
}

interface PlanChange {
  previous: Plan
  changed: boolean
  isUpgrade: boolean
  since: Date
  exceeded: Exceeded[]
}

/** Takes the organization's row: whoever makes items meanwhile waits, and then makes them under the new plan. */
export async function changePlan(
  tx: Tx,
  organizationId: string,
  plan: Plan,
  call: { by: string | null; invocationId: string; now: Date },
): Promise<PlanChange> {
  const { planId } = await tx
    .selectFrom('organization')
    .select('plan_id as planId')
    .where('id', '=', organizationId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const previous = requireKnownPlan(planId)
  const exceeded = await exceededBy(tx, organizationId, plan, call.now)
  if (previous.id === plan.id) {
    const { since } = await tx
      .selectFrom('organization_plan')
      .select('started_at as since')
      .where('org_id', '=', organizationId)
      .orderBy('started_at', 'desc')
      .executeTakeFirstOrThrow()
    return { previous, changed: false, isUpgrade: false, since, exceeded }
  }
  const hasOtherRules = !isDeepStrictEqual(previous.retention, plan.retention)
  await tx
    .updateTable('organization')
    .set({ plan_id: plan.id, updated_at: call.now, ...(hasOtherRules ? { retention_since: call.now } : {}) })
    .where('id', '=', organizationId)
    .execute()
  await tx
    .insertInto('organization_plan')
    .values({ org_id: organizationId, plan_id: plan.id, started_at: call.now, changed_by: call.by, invocation_id: call.invocationId })
    .onConflict((conflict) =>
      conflict.columns(['org_id', 'started_at']).doUpdateSet({ plan_id: plan.id, changed_by: call.by, invocation_id: call.invocationId }),
    )
    .execute()
  return { previous, changed: true, isUpgrade: PLANS.indexOf(plan) > PLANS.indexOf(previous), since: call.now, exceeded }
}

/** Nothing is taken away by a change of plan; what is above the limits is told, with what it means. */
async function exceededBy(tx: Tx, organizationId: string, plan: Plan, now: Date): Promise<Exceeded[]> {
  const { usedBytes, reservedBytes } = await storageAccounts.get(tx, organizationId)
  const stored = usedBytes + reservedBytes
  const exceeded: Exceeded[] = []
  if (stored > plan.storageBytes)
    exceeded.push({
      limit: 'storage_bytes',
      used: stored,
      allowed: plan.storageBytes,
      message:
        `${stored - plan.storageBytes} bytes more are stored than the plan '${plan.name}' holds: ` +
        'nothing is deleted for that, but uploads and copies are refused until there is room.',
    })
  const kinds = [
    { limit: 'compute_jobs', what: 'clip jobs', allowed: plan.computeJobs },
    { limit: 'processing_jobs', what: 'processing jobs', allowed: plan.processingJobs },
  ] as const
  for (const { limit, what, allowed } of kinds) {
    const { own: used } = await usage.jobsOfMonth(tx, organizationId, limit, now)
    if (used <= allowed) continue
    const message =
      `${used} ${what} were started this month, and the plan '${plan.name}' has ${allowed}: ` + 'new ones are rejected until next month.'
    exceeded.push({ limit, used, allowed, message })
  }
  return exceeded
}
