import { SERVICE } from '#core/principal.ts'
import * as projects from '#model/identity/project.ts'
import * as jobs from '#model/processing/job.ts'
import { clearJobTask } from '#model/processing/tasks.ts'
import { workerPrefix } from '#services/processing/worker-files.ts'
import { task } from '#task.ts'

/** Removes the uploads of an external worker for a cancelled job. A deleted project has no bucket any more. */
export default task({ ...clearJobTask }).handle(async ({ db, storage, signal }, { job_id }) => {
  const job = await jobs.find(db, job_id)
  if (job?.status !== 'cancelled' || !(await projects.exists(db, { ...SERVICE, organizationId: job.organizationId }, job.projectId))) return
  const { bucketName } = await projects.requireReader(db, { ...SERVICE, organizationId: job.organizationId }, job.projectId)
  for (let cursor: string | null = null; ;) {
    const { objects, next } = await storage.list(bucketName!, { prefix: workerPrefix(job_id), cursor, signal })
    for (const { key } of objects) await storage.remove({ bucket: bucketName!, key })
    if (next === null) return
    cursor = next
  }
})
