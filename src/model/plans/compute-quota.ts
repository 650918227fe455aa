/** Jobs that a plan has in a month, clips and others apart: taken one by one, in the transaction that makes the job. */
import { sql } from 'kysely'
import { problem } from '#core/problem.ts'
import type { Tx } from '#db/tables.ts'
import { planOf } from './plan.ts'
import * as usage from './usage.ts'

/** Counts one job. 402 when the month's are used up; however many ask at once, no more than the plan has begin. */
export async function take(tx: Tx, organizationId: string, meter: usage.JobMeter, now: Date): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`compute ${organizationId}`}, 0))`.execute(tx)
  const plan = await planOf(tx, organizationId)
  const [limit, what] = meter === 'compute_jobs' ? [plan.computeJobs, 'clip jobs'] : [plan.processingJobs, 'processing jobs']
  const { used, own } = await usage.jobsOfMonth(tx, organizationId, meter, now)
  if (used >= limit) {
    throw problem(
      'compute-quota-exceeded',
      `${used} of the ${limit} ${what} that the plan '${plan.name}' has in a month are used` +
        `${used > own ? ', including those of organizations that their founder deleted this month' : ''}. ` +
        `Wait for the next month or change the plan.`,
      { members: { used, limit } },
    )
  }
  await usage.add(tx, [{ organizationId, day: usage.dayOf(now), meter, amount: 1 }])
}
