import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Defaulted } from '#core/shapes.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { queueJob } from '#services/processing/jobs.ts'
import { EXAMPLE_JOB, JobId } from '#wire/job.ts'
import { Dispatched, EXAMPLE_DISPATCHED, toDispatched } from './create.wire.ts'

/** Hands a pending job over to be worked on. */
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
  async check(_context, { version }, found) {
    if (version !== found.version)
      throw problem('bad-request', `This job is for version ${found.version} of '${found.jobType}', not ${version}`)
    if (found.status !== 'pending') throw notPending(found.status)
    return found
  },
  async execute(context, { job_id }, found) {
    context.attributeTo(found.organizationId)
    const dispatched = await jobs.dispatch(context.tx, job_id, context.clock.now())
    if (!dispatched) throw notPending((await jobs.lock(context.tx, job_id)).status)
    await queueJob(context, dispatched)
    return toDispatched(dispatched)
  },
})

const notPending = (status: string) => problem('bad-request', `Only a pending job can be dispatched; this one is ${status}`)
