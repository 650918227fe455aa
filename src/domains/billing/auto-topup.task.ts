import { autoTopupTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import * as autoTopups from '#model/money/auto-topup.ts'

/** Tops an organization up when its balance is low; every minute, all whose turn has come since: the pause is over, a new day began. */
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
  if (failures.length > 0) throw failures[0] // One organization's trouble does not keep the others waiting.
})
