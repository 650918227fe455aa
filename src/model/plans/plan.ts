/** What organizations can subscribe to. Prices, quotas and windows of retention are data, and this is their one place. */
import type { Db } from '#db/tables.ts'

const GIB = 1024 ** 3
const TIB = 1024 ** 4

/** Days after which a plan moves items on; null: never. */
export interface Retention {
  /** From creation; downloads end at `expired`, the data at `deleted`. */
  readonly expiringAfterDays: number | null
  readonly expiredAfterDays: number | null
  readonly deletedAfterDays: number | null
  /** From the last download or tile. An archived item can still be used. */
  readonly archivedAfterIdleDays: number | null
}

export interface Plan {
  readonly id: string
  readonly name: string
  /** Whole dollars, without tax. */
  readonly monthlyAud: number
  readonly storageBytes: number
  /** Clips started in one month of UTC. */
  readonly computeJobs: number
  /** Jobs of all other kinds started in one month of UTC. */
  readonly processingJobs: number
  /** Downloaded in any 24 hours. */
  readonly egressBytes: number
  readonly retention: Retention
}

const KEPT: Retention = { expiringAfterDays: null, expiredAfterDays: null, deletedAfterDays: null, archivedAfterIdleDays: 365 }

/** From the smallest to the largest: a change to a later one is an upgrade. */
export const PLANS: readonly Plan[] = [
  {
    id: 'free',
    name: 'Free',
    monthlyAud: 0,
    storageBytes: 10 * GIB,
    computeJobs: 10,
    processingJobs: 100,
    egressBytes: 20 * GIB,
    retention: { expiringAfterDays: 23, expiredAfterDays: 30, deletedAfterDays: 60, archivedAfterIdleDays: null },
  },
  {
    id: 'team',
    name: 'Team',
    monthlyAud: 149,
    storageBytes: TIB,
    computeJobs: 1_000,
    processingJobs: 10_000,
    egressBytes: TIB,
    retention: KEPT,
  },
  {
    id: 'business',
    name: 'Business',
    monthlyAud: 990,
    storageBytes: 10 * TIB,
    computeJobs: 10_000,
    processingJobs: 10_000,
    egressBytes: 5 * TIB,
    retention: KEPT,
  },
]

export const FREE_PLAN = PLANS[0]!

function findPlan(id: string): Plan | null {
  return PLANS.find((plan) => plan.id === id) ?? null
}

/** A plan that is no longer sold would have its row here still; an id without one is a mistake of ours. */
export function requireKnownPlan(id: string): Plan {
  const plan = findPlan(id)
  if (!plan) throw new Error(`an organization is on a plan '${id}' that does not exist`)
  return plan
}

export async function planOf(db: Db, organizationId: string): Promise<Plan> {
  const { planId } = await db
    .selectFrom('organization')
    .select('plan_id as planId')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return requireKnownPlan(planId)
}

interface PlanSpan {
  plan: Plan
  from: Date
  to: Date
}

/** Which plans an organization was on between two instants, in order and without gaps: what a fee is charged by. */
export async function planSpans(db: Db, organizationId: string, from: Date, to: Date): Promise<PlanSpan[]> {
  const rows = await db
    .selectFrom('organization_plan')
    .select(['plan_id as planId', 'started_at as startedAt'])
    .where('org_id', '=', organizationId)
    .where('started_at', '<', to)
    .orderBy('started_at')
    .execute()
  return rows
    .map((row, index) => ({
      plan: requireKnownPlan(row.planId),
      from: later(row.startedAt, from),
      to: rows[index + 1]?.startedAt ?? to,
    }))
    .filter((span) => span.from < span.to)
}

const later = (a: Date, b: Date): Date => (a > b ? a : b)
