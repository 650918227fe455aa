/** Ends jobs without outputs, as failed or cancelled, and releases their reservation in the same transaction. */
import type { Change } from '#effects.ts'
import * as spending from '#model/money/spending.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as jobs from '#model/processing/job.ts'
import * as parts from '#model/processing/part.ts'
import * as runs from '#model/processing/run.ts'
import { clearJobTask } from '#model/processing/tasks.ts'
import { PUT_SECONDS } from './worker-files.ts'

const MAX_REASON_LENGTH = 1_000

/** Returns false if the job has ended or another run has it. A run passes its own `runId`. */
export async function failJob(
  change: Change,
  job: Pick<jobs.Job, 'id' | 'status'>,
  runId: string | null,
  reason: string,
): Promise<boolean> {
  const to = { status: 'failed' as const, error: reason.slice(0, MAX_REASON_LENGTH) }
  const ended = await runs.end(change.tx, { id: job.id, runId }, to, change.clock.now())
  if (!ended) return false
  change.events.emit('job.failed', ended.id, { ...jobs.summary(ended, job.status), reason: to.error })
  await releaseJob(change, ended, job.status)
  await clearParts(change, ended)
  return true
}

/**
 * Returns false if the job has already ended. `isRequested` if a user cancels it, not a timeout. A local run notices at its
 * next heartbeat and an external worker at its next report; the worker's uploads are removed now, and again when its last
 * signed URL has expired.
 */
export async function cancelJob(
  change: Change,
  job: Pick<jobs.Job, 'id' | 'status'>,
  { isRequested = false }: { isRequested?: boolean } = {},
): Promise<boolean> {
  const ended = await runs.end(change.tx, { id: job.id, runId: null }, { status: 'cancelled' }, change.clock.now())
  if (!ended) return false
  if (isRequested) change.events.emit('job.failed', ended.id, { ...jobs.summary(ended, job.status), reason: 'cancelled' })
  await releaseJob(change, ended, job.status)
  await clearParts(change, ended)
  if (ended.worker !== null)
    for (const afterSeconds of [0, PUT_SECONDS]) await change.tasks.enqueue(clearJobTask, { job_id: ended.id }, { afterSeconds })
  return true
}

/** Releases the credits and the storage that an unfinished job has reserved. */
export async function releaseJob(change: Change, job: jobs.Job, before: jobs.Job['status']): Promise<void> {
  await storageAccounts.release(change.tx, job.organizationId, job.reservedBytes)
  const released = await spending.release(change, job.organizationId, jobs.referenceOf(job))
  if (released) change.events.emit('job.released', job.id, { ...jobs.summary(job, before), released_credits: released.releasedCredits })
}

/** A worker that stores a part at this moment has noticed by then. */
const LATE_PART_SECONDS = 600

/** Stops work on the parts of a job that has ended, and removes their files. */
export async function clearParts({ tx, tasks }: Change, job: Pick<jobs.Job, 'id' | 'organizationId'>): Promise<void> {
  if (!(await parts.remove(tx, job))) return
  for (const afterSeconds of [0, LATE_PART_SECONDS]) await tasks.enqueue(clearJobTask, { job_id: job.id }, { afterSeconds })
}
