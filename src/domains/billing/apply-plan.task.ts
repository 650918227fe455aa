import { applyPlanTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import * as retention from '#model/imagery/retention.ts'

const BATCH_SIZE = 5_000

/**
 * Continues a change of plan: recomputes the retention dates of an organization's items in batches. The plan may change again
 * meanwhile; every batch uses the current plan, so the last run decides.
 */
export default task({
  ...applyPlanTask,
  timeoutSeconds: 3_600,
  events: ['item.updated'],
}).handle(async ({ clock, change, signal }, { organization_id, project_id, seq, revive }) => {
  let cursor: retention.Place | null = { projectId: project_id, seq }
  while (cursor && !signal.aborted) {
    const from: retention.Place = cursor
    cursor = await change(organization_id, async ({ tx, invocationId }) => {
      const now = clock.now()
      const { moved, next } = await retention.recalculateDates(tx, organization_id, { from, limit: BATCH_SIZE, revive, now })
      await retention.report(tx, moved, invocationId, now)
      return next
    })
  }
})
