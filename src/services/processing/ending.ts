/** How jobs end that make nothing: failed or cancelled, with their reservation released in the same transaction. */
import type { Change } from '#effects.ts'
import * as spending from '#model/money/spending.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as jobs from '#model/processing/job.ts'
import * as runs from '#model/processing/run.ts'
import { clearJobTask } from '#model/processing/tasks.ts'
import { PUT_SECONDS } from './worker-files.ts'

const MAX_REASON_LENGTH = 1_000

/** False: it has ended already, or another run has it. `runId` where a run fails its own. */
export async function failJob(
  change: Change,
  found: Pick<jobs.Job, 'id' | 'status'>,
  runId: string | null,
  reason: string,
): Promise<boolean> {
  const to = { status: 'failed' as const, error: reason.slice(0, MAX_REASON_LENGTH) }
  const ended = await runs.end(change.tx, { id: found.id, runId }, to, change.clock.now())
  if (!ended) return false
  change.events.emit('job.failed', ended.id, { ...jobs.summary(ended, found.status), reason: to.error })
  await releaseJob(change, ended, found.status)
  return true
}

/**
 * False: it has ended already. `isAsked` where a person cancels it rather than the clock. A run of ours learns of it with its
 * next heartbeat and a worker with its next report; files that the worker has put are removed, and again when the last address
 * that was signed for it has expired.
 */
export async function cancelJob(
  change: Change,
  found: Pick<jobs.Job, 'id' | 'status'>,
  { isAsked = false }: { isAsked?: boolean } = {},
): Promise<boolean> {
  const ended = await runs.end(change.tx, { id: found.id, runId: null }, { status: 'cancelled' }, change.clock.now())
  if (!ended) return false
  if (isAsked) change.events.emit('job.failed', ended.id, { ...jobs.summary(ended, found.status), reason: 'cancelled' })
  await releaseJob(change, ended, found.status)
  if (ended.worker !== null)
    for (const afterSeconds of [0, PUT_SECONDS]) await change.tasks.enqueue(clearJobTask, { job_id: ended.id }, { afterSeconds })
  return true
}

/** Gives back what an unfinished job holds: its credits and its room in the store. */
export async function releaseJob(change: Change, found: jobs.Job, before: jobs.Job['status']): Promise<void> {
  await storageAccounts.release(change.tx, found.organizationId, found.reservedBytes)
  const released = await spending.release(change, found.organizationId, jobs.referenceOf(found))
  if (released) change.events.emit('job.released', found.id, { ...jobs.summary(found, before), released_credits: released.releasedCredits })
}
