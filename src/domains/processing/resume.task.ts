import { Closed } from '#core/shapes.ts'
import * as runs from '#model/processing/run.ts'
import { runJobTask } from '#model/processing/tasks.ts'
import { PROCESSES } from '#services/processing/catalogue.ts'
import { cancelJob, failJob } from '#services/processing/ending.ts'
import { task } from '#task.ts'

/** Takes up jobs whose process died, ends those whose time is over, and gives their reservations back. */
export default task({
  name: 'processing.resume',
  data: Closed({}),
  schedule: '* * * * *',
  events: ['job.failed', 'job.released'],
}).handle(async ({ db, clock, tasks, change, workers }) => {
  const now = clock.now()
  for (const found of await runs.overdue(db, now)) {
    const minutes = Math.round(found.timeoutSeconds / 60)
    await change(found.organizationId, async (made) => {
      if (found.status === 'pending') await cancelJob(made, found)
      else if (found.status === 'dispatched') await failJob(made, found, null, 'Nobody began to work on it within a day')
      else if (found.worker === null) await failJob(made, found, found.runId, `It took longer than the ${minutes} minutes that it may take`)
      else await failJob(made, found, found.runId, `Its worker has not been heard of for ${minutes} minutes`)
    })
  }
  const ours = PROCESSES.map(({ id }) => id).filter((id) => !workers.serve(id))
  if (ours.length === 0) return
  await db.transaction().execute(async (tx) => {
    for (const id of await runs.stalled(tx, ours, now)) await tasks(tx).enqueue(runJobTask, { job_id: id })
  })
})
