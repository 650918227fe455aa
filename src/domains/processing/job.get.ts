import { Closed } from '#core/shapes.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_JOB, JobId, JobRecord, toJob } from '#wire/job.ts'

/** Returns a job with its progress. */
export default operation({
  id: 'processing.job.get',
  scope: 'processing:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ job_id: JobId }),
  output: Closed({ job: JobRecord }, { description: 'The job' }),
  example: { input: { job_id: EXAMPLE_JOB.id }, output: { job: EXAMPLE_JOB } },
}).handle({
  check: ({ db, principal }, { job_id }) => jobs.requireReader(db, principal, job_id),
  async execute(_context, _input, job) {
    return { job: toJob(job) }
  },
})
