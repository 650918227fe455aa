import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Defaulted } from '#core/shapes.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { queueJob } from '#services/processing/jobs.ts'
import { EXAMPLE_JOB, JobId } from '#wire/job.ts'
import { Dispatched, EXAMPLE_DISPATCHED, toDispatched } from './create.wire.ts'

/** Dispatches a pending job. */
export default operation({
  id: 'processing.dispatch',
  scope: 'processing:process',
  tier: 'external_spend',
  idempotent: true,
  input: Closed({
    job_id: JobId,
    version: Defaulted(Type.String({ minLength: 1, maxLength: 20 }), '1', { description: 'Process version' }),
  }),
  output: Dispatched,
  example: { input: { job_id: EXAMPLE_JOB.id }, output: EXAMPLE_DISPATCHED },
}).handle({
  permit: ({ db, principal }, { job_id }) => jobs.requireEditor(db, principal, job_id),
  async check(_context, { version }, job) {
    if (version !== job.version)
      throw problem('bad-request', `This job requires version ${job.version} of '${job.jobType}', not ${version}`)
    if (job.status !== 'pending') throw notPending(job.status)
    return job
  },
  async execute(context, { job_id }, job) {
    context.attributeTo(job.organizationId)
    const dispatched = await jobs.dispatch(context.tx, job_id, context.clock.now())
    if (!dispatched) throw notPending((await jobs.lock(context.tx, job_id)).status)
    await queueJob(context, dispatched)
    return toDispatched(dispatched)
  },
})

const notPending = (status: string) => problem('bad-request', `Only a pending job can be dispatched; this one is ${status}`)
