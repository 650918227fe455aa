import { applyPlanTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import * as retention from '#model/imagery/retention.ts'

const BATCH_SIZE = 5_000

/**
 * Goes on with what a change of plan began: dates an organization's items anew, a stretch at a time. By then the plan may
 * have changed again; every stretch goes by the plan of its moment, so the last walk is the one that counts.
 */
export default task({
  ...applyPlanTask,
  timeoutSeconds: 3_600,
  events: ['item.updated'],
}).handle(async ({ clock, change, signal }, { organization_id, project_id, seq, revive }) => {
  let place: retention.Place | null = { projectId: project_id, seq }
  while (place && !signal.aborted) {
    const from: retention.Place = place
    place = await change(organization_id, async ({ tx, invocationId }) => {
      const now = clock.now()
      const { moved, next } = await retention.recalculateDates(tx, organization_id, { from, limit: BATCH_SIZE, revive, now })
      await retention.report(tx, moved, invocationId, now)
      return next
    })
  }
})
