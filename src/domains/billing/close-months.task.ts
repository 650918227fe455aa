import { periodBefore, periodNamed } from '#core/period.ts'
import { closeMonthTask, closeMonthsTask } from '#model/money/tasks.ts'
import { task } from '#task.ts'
import { unclosed } from '#model/money/monthly-close.ts'

/** On the first of each month: enqueues one task per organization, so that a failure does not delay the others. */
export default task({
  ...closeMonthsTask,
  schedule: '10 0 1 * *',
  timeoutSeconds: 1_800,
}).handle(async ({ db, clock, tasks }, { period: name }) => {
  const period = name ? periodNamed(name) : periodBefore(clock.now())
  for (let last: string | null = null; ;) {
    const ids: string[] = await unclosed(db, period, last)
    if (ids.length === 0) return
    await db.transaction().execute(async (tx) => {
      for (const organization_id of ids) await tasks(tx).enqueue(closeMonthTask, { organization_id, period: period.name })
    })
    last = ids.at(-1)!
  }
})
