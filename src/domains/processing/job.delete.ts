import { Closed, Removed } from '#core/shapes.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { releaseJob } from '#services/processing/end-job.ts'
import { EXAMPLE_JOB, JobId } from '#wire/job.ts'

/** Deletes a job permanently. A job that has not ended is cancelled and its reservation released; created items stay. */
export default operation({
  id: 'processing.job.delete',
  scope: 'clip:destroy',
  tier: 'destructive',
  events: ['job.released'],
  input: Closed({ job_id: JobId }),
  output: Removed,
  example: { input: { job_id: EXAMPLE_JOB.id }, output: { ok: true as const, id: EXAMPLE_JOB.id } },
}).handle({
  check: ({ db, principal }, { job_id }) => jobs.requireEditor(db, principal, job_id),
  async execute(context, _input, { id, organizationId }) {
    context.attributeTo(organizationId)
    const held = await jobs.lock(context.tx, id)
    if (held.completedAt === null) await releaseJob(context, { ...held, status: 'cancelled' }, held.status)
    await jobs.remove(context.tx, id)
    return { ok: true as const, id }
  },
})
