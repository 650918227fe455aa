import { problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { cancelJob } from '#services/processing/end-job.ts'
import { EXAMPLE_JOB, JobId, JobRecord, toJob } from '#wire/job.ts'

/**
 * Cancels a job that has not ended: its reservation is released, work on it stops and what it wrote is removed. Cancelling a
 * cancelled job again returns it unchanged; a completed or failed job cannot be cancelled.
 */
export default operation({
  id: 'processing.job.cancel',
  scope: 'processing:process',
  tier: 'compute',
  events: ['job.failed', 'job.released'],
  input: Closed({ job_id: JobId }),
  output: Closed({ job: JobRecord }, { description: 'The cancelled job' }),
  example: {
    input: { job_id: EXAMPLE_JOB.id },
    output: { job: { ...EXAMPLE_JOB, status: 'cancelled' as const, captured_credits: 0, completed_at: EXAMPLE_JOB.created_at } },
  },
}).handle({
  async check({ db, principal }, { job_id }) {
    const job = await jobs.requireEditor(db, principal, job_id)
    if (hasEndedOtherwise(job)) throw tooLate(job)
    return job
  },
  async execute(context, _input, { id, organizationId }) {
    context.attributeTo(organizationId)
    const held = await jobs.lock(context.tx, id)
    if (hasEndedOtherwise(held)) throw tooLate(held)
    if (held.status !== 'cancelled') await cancelJob(context, held, { isRequested: true })
    return { job: toJob(await jobs.lock(context.tx, id)) }
  },
})

const hasEndedOtherwise = ({ completedAt, status }: jobs.Job): boolean => completedAt !== null && status !== 'cancelled'

const tooLate = ({ status }: jobs.Job) =>
  problem('bad-request', `This job is ${status}; only a pending, dispatched or running job can be cancelled`)
