/** Monthly quotas of clip jobs and of other jobs. A job is counted in the transaction that creates it. */
import { sql } from 'kysely'
import { problem } from '#core/problem.ts'
import type { Tx } from '#db/tables.ts'
import { planOf } from './plan.ts'
import * as usage from './usage.ts'

/** Counts one job; 402 if the month's quota is used up. The lock keeps concurrent calls within the quota. */
export async function take(tx: Tx, organizationId: string, meter: usage.JobMeter, now: Date): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`compute ${organizationId}`}, 0))`.execute(tx)
  const plan = await planOf(tx, organizationId)
  const [limit, kind] = meter === 'compute_jobs' ? [plan.computeJobs, 'clip jobs'] : [plan.processingJobs, 'processing jobs']
  const { used, own } = await usage.jobsOfMonth(tx, organizationId, meter, now)
  if (used >= limit) {
    throw problem(
      'compute-quota-exceeded',
      `${used} of the ${limit} ${kind} per month on the plan '${plan.name}' are used` +
        `${used > own ? ', including those of organizations that their creator deleted this month' : ''}. ` +
        `Wait until next month or change the plan.`,
      { members: { used, limit } },
    )
  }
  await usage.add(tx, [{ organizationId, day: usage.dayOf(now), meter, amount: 1 }])
}
