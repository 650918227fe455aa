/** Changing a plan: the new limits, and which of them are already exceeded. */
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '#db/tables.ts'
import { PLANS, requireKnownPlan, type Plan } from '#model/plans/plan.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as usage from '#model/plans/usage.ts'

interface ExceededLimit {
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
  exceeded: ExceededLimit[]
}

/** Locks the organization's row: calls that create items wait and then use the new plan. */
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

/** A change of plan removes nothing; exceeded limits are reported with their consequences. */
async function exceededBy(tx: Tx, organizationId: string, plan: Plan, now: Date): Promise<ExceededLimit[]> {
  const { usedBytes, reservedBytes } = await storageAccounts.get(tx, organizationId)
  const stored = usedBytes + reservedBytes
  const exceeded: ExceededLimit[] = []
  if (stored > plan.storageBytes)
    exceeded.push({
      limit: 'storage_bytes',
      used: stored,
      allowed: plan.storageBytes,
      message:
        `Storage exceeds the quota of the plan '${plan.name}' by ${stored - plan.storageBytes} bytes. ` +
        'Nothing is deleted, but uploads and copies are rejected until usage is below the quota.',
    })
  const kinds = [
    { limit: 'compute_jobs', jobs: 'clip jobs', allowed: plan.computeJobs },
    { limit: 'processing_jobs', jobs: 'processing jobs', allowed: plan.processingJobs },
  ] as const
  for (const { limit, jobs, allowed } of kinds) {
    const { own: used } = await usage.jobsOfMonth(tx, organizationId, limit, now)
    if (used <= allowed) continue
    const message =
      `${used} ${jobs} were started this month; the plan '${plan.name}' allows ${allowed}. ` + 'New ones are rejected until next month.'
    exceeded.push({ limit, used, allowed, message })
  }
  return exceeded
}
