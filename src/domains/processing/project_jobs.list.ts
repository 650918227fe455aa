import Type from 'typebox'
import { Closed, Described, Limit, Nullable, Offset, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_JOB, JobRecord, JobState, toJob } from '#wire/job.ts'

/** Lists the jobs of a project, newest first. */
export default operation({
  id: 'processing.project_jobs.list',
  scope: 'processing:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    project_id: Described(Uuid, 'Project ID'),
    status: Type.Optional(Nullable(JobState)),
    job_type_name: Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'Only jobs of this type' }))),
    limit: Limit(50, 100),
    offset: Offset,
  }),
  output: Closed({
    jobs: Type.Array(JobRecord, { description: 'Jobs of this page' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: { project_id: EXAMPLE_JOB.project_id }, output: { jobs: [EXAMPLE_JOB], total: 1 } },
}).handle({
  check: ({ db, principal }, { project_id }) => projects.requireReader(db, principal, project_id),
  async execute({ db }, { status, job_type_name, limit, offset }, project) {
    const filter = {
      projectId: project.id,
      jobTypes: job_type_name == null ? undefined : [job_type_name],
      statuses: status ? [status] : undefined,
      limit,
      offset,
    }
    const { jobs: page, total } = await jobs.list(db, filter)
    return { jobs: page.map(toJob), total }
  },
})
