import { SERVICE } from '#core/principal.ts'
import * as projects from '#model/identity/project.ts'
import * as jobs from '#model/processing/job.ts'
import { clearJobTask } from '#model/processing/tasks.ts'
import { removeFiles } from '#services/processing/parts.ts'
import { partPrefix, workerPrefix } from '#services/processing/worker-files.ts'
import { task } from '#task.ts'

/**
 * Removes the parts of a job that has ended, and the uploads of an external worker if it was cancelled. A deleted project has no bucket
 * any more.
 */
export default task({ ...clearJobTask }).handle(async ({ db, storage, signal }, { job_id }) => {
  const job = await jobs.find(db, job_id)
  if (!job?.completedAt || !(await projects.exists(db, { ...SERVICE, organizationId: job.organizationId }, job.projectId))) return
  const { bucketName } = await projects.requireReader(db, { ...SERVICE, organizationId: job.organizationId }, job.projectId)
  await removeFiles({ storage, signal }, bucketName!, job.status === 'cancelled' ? workerPrefix(job_id) : partPrefix(job_id))
})
