import { runPartTask } from '#model/processing/tasks.ts'
import { workOnParts } from '#services/processing/part-work.ts'
import { task } from '#task.ts'

const LONGEST_JOB_SECONDS = 6 * 3_600

/**
 * Works on parts of large jobs and conversions. A task is a free slot for the next part in rotation between organizations, not for the
 * job it names; the run of a job joins its parts.
 */
export default task({ ...runPartTask, concurrency: 8, timeoutSeconds: LONGEST_JOB_SECONDS, retryLimit: 0 }).handle(workOnParts)
