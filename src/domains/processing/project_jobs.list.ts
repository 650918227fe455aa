import Type from 'typebox'
import { Closed, Limit, Nullable, Offset, Uuid } from '#core/shapes.ts'
import * as project from '#model/identity/project.ts'
import * as job from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_JOB, JobRecord, JobState, toJob } from '#wire/job.ts'

/** The jobs of one project, newest first. */
export default operation({
  id: 'processing.project_jobs.list',
  scope: 'processing:read',
  tier: 'read',
  input: Closed({
    project_id: Type.With(Uuid, { description: 'The project' }),
    status: Type.Optional(Nullable(JobState)),
    job_type_name: Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'Only jobs of this type' }))),
    limit: Type.With(Limit(50, 100), { description: 'At most so many' }),
    offset: Type.With(Offset, { description: 'How many to leave out' }),
  }),
  output: Closed({
    jobs: Type.Array(JobRecord, { description: 'The jobs' }),
    total: Type.Integer({ description: 'How many there are' }),
  }),
  example: { input: { project_id: EXAMPLE_JOB.project_id }, output: { jobs: [EXAMPLE_JOB], total: 1 } },
}).handle({
  check: ({ db, principal }, { project_id }) => project.requireReader(db, principal, project_id),
  async execute({ db }, { status, job_type_name, limit, offset }, found) {
    const filter = {
      projectId: found.id,
      jobTypes: job_type_name == null ? undefined : [job_type_name],
      statuses: status ? [status] : undefined,
      limit,
      offset,
    }
    const { jobs, total } = await job.list(db, filter)
    return { jobs: jobs.map(toJob), total }
  },
})
