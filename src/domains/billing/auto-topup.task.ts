import { autoTopupTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import * as autoTopups from '#model/money/auto-topup.ts'

/** Tops up an organization with a low balance; every minute, all that became due because their pause ended or a new day began. */
export default task({
  ...autoTopupTask,
  schedule: '* * * * *',
  retryLimit: 3,
}).handle(async (context, { organization_id }) => {
  const { db, clock, payments } = context
  if (!payments) return
  const failures: unknown[] = []
  for (const organizationId of organization_id ? [organization_id] : await autoTopups.due(db, clock.now()))
    await autoTopups.run(context, organizationId).catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0] // After the loop: one organization's failure does not delay the others.
})
