import { Closed } from '#core/shapes.ts'
import * as parts from '#model/processing/part.ts'
import * as runs from '#model/processing/run.ts'
import { runJobTask, runPartTask } from '#model/processing/tasks.ts'
import { PROCESSES } from '#services/processing/catalogue.ts'
import { cancelJob, failJob } from '#services/processing/end-job.ts'
import { task } from '#task.ts'

/** Enqueues jobs and parts whose process crashed again, and ends jobs that timed out, releasing their reservations. */
export default task({
  name: 'processing.resume',
  data: Closed({}),
  schedule: '* * * * *',
  events: ['job.failed', 'job.released'],
}).handle(async ({ db, clock, tasks, change, workers }) => {
  const now = clock.now()
  for (const job of await runs.overdue(db, now)) {
    const minutes = Math.round(job.timeoutSeconds / 60)
    await change(job.organizationId, async (change) => {
      if (job.status === 'pending') await cancelJob(change, job)
      else if (job.status === 'dispatched') await failJob(change, job, null, 'No worker started the job within a day')
      else if (job.worker === null) await failJob(change, job, job.runId, `The job exceeded its time limit of ${minutes} minutes`)
      else await failJob(change, job, job.runId, `The worker has not reported for ${minutes} minutes`)
    })
  }
  const localTypes = PROCESSES.map(({ id }) => id).filter((id) => !workers.handles(id))
  if (localTypes.length === 0) return
  await db.transaction().execute(async (tx) => {
    for (const id of await runs.stalled(tx, localTypes, now)) await tasks(tx).enqueue(runJobTask, { job_id: id })
    for (const id of await parts.abandoned(tx, now)) await tasks(tx).enqueue(runPartTask, { job_id: id })
  })
})
