/** The plans an organization can subscribe to. Prices, quotas and retention are defined here only. */
import type { Db } from '#db/tables.ts'

const GIB = 1024 ** 3
const TIB = 1024 ** 4

/** Days after which an item changes its lifecycle state; null means never. */
export interface Retention {
  /** Counted from creation. Downloads end at `expired`, the data is deleted at `deleted`. */
  readonly expiringAfterDays: number | null
  readonly expiredAfterDays: number | null
  readonly deletedAfterDays: number | null
  /** Counted from the last download or tile. An archived item can still be used. */
  readonly archivedAfterIdleDays: number | null
}

export interface Plan {
  readonly id: string
  readonly name: string
  /** Whole Australian dollars, excluding tax. */
  readonly monthlyAud: number
  readonly storageBytes: number
  /** Clips started per calendar month (UTC). */
  readonly computeJobs: number
  /** Other jobs started per calendar month (UTC). */
  readonly processingJobs: number
  /** Bytes downloaded in any 24 hours. */
  readonly egressBytes: number
  readonly retention: Retention
}

const PAID_RETENTION: Retention = { expiringAfterDays: null, expiredAfterDays: null, deletedAfterDays: null, archivedAfterIdleDays: 365 }

/** Smallest first: a change to a later plan is an upgrade. */
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
    retention: PAID_RETENTION,
  },
  {
    id: 'business',
    name: 'Business',
    monthlyAud: 990,
    storageBytes: 10 * TIB,
    computeJobs: 10_000,
    processingJobs: 10_000,
    egressBytes: 5 * TIB,
    retention: PAID_RETENTION,
  },
]

export const FREE_PLAN = PLANS[0]!

function findPlan(id: string): Plan | null {
  return PLANS.find((plan) => plan.id === id) ?? null
}

/** A plan that is no longer sold would still be listed here, so an unknown ID is a bug. */
export function requireKnownPlan(id: string): Plan {
  const plan = findPlan(id)
  if (!plan) throw new Error(`unknown plan '${id}'`)
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

/** The plans of an organization between two times, in order and without gaps; fees are charged by them. */
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
