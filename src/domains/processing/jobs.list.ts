import Type from 'typebox'
import { isUuid } from '#core/ids.ts'
import { parseInterval } from '#core/interval.ts'
import { invalidField } from '#core/problem.ts'
import { Choice, Closed, Defaulted, Described, Limit, Nullable } from '#core/shapes.ts'
import { JOB_STATUSES } from '#core/vocabulary.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_JOB, JobRecord, JobState, toJob } from '#wire/job.ts'
import { ProcessId } from './wire.ts'

const MAX_PAGE = 10_000
const MAX_IDS = 100
const Seconds = (description: string) => Type.Integer({ minimum: 0, maximum: 2_147_483_647, description })

/** Lists the organization's jobs that the caller can see, newest first. */
export default operation({
  id: 'processing.jobs.list',
  scope: 'processing:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    workspaceId: Type.Optional(Nullable(Type.String({ format: 'uuid', description: 'Only jobs of this project' }))),
    processId: Type.Optional(Nullable(ProcessId)),
    status: Type.Optional(Nullable(JobState)),
    statuses: Type.Optional(
      Nullable(Type.Array(JobState, { minItems: 1, maxItems: JOB_STATUSES.length, description: 'Only jobs with one of these statuses' })),
    ),
    processIds: Type.Optional(
      Nullable(Type.Array(ProcessId, { minItems: 1, maxItems: MAX_IDS, description: 'Only jobs of these processes' })),
    ),
    created: Type.Optional(
      Nullable(Type.String({ maxLength: 100, description: 'Creation time or interval `start/end`; `..` leaves an end open' })),
    ),
    min_duration_seconds: Type.Optional(Nullable(Seconds('Minimum duration of the jobs in seconds'))),
    max_duration_seconds: Type.Optional(Nullable(Seconds('Maximum duration of the jobs in seconds'))),
    ids: Type.Optional(Nullable(Type.String({ maxLength: 4_000, description: 'Only jobs with these IDs, separated by commas' }))),
    page: Defaulted(Type.Integer({ minimum: 0, maximum: MAX_PAGE }), 0, { description: '0-based page number' }),
    limit: Described(Limit(20, 100), 'Maximum jobs per page'),
    sort: Defaulted(Choice(['created,desc', 'created,asc']), 'created,desc', { description: 'Sort order by creation time' }),
  }),
  output: Closed({
    jobs: Type.Array(JobRecord, { description: 'Jobs of this page' }),
    limit: Type.Integer({ description: 'Maximum jobs per page' }),
    page: Type.Integer({ description: '0-based page number' }),
    total: Type.Integer({ description: 'Total number of jobs' }),
  }),
  example: { input: { limit: 20 }, output: { jobs: [EXAMPLE_JOB], limit: 20, page: 0, total: 1 } },
}).handle({
  async check({ db, principal }, { workspaceId }) {
    if (workspaceId) return { projectId: (await projects.requireReader(db, principal, workspaceId)).id }
    return { organizationId: requireOrganization(principal), hiddenProjectIds: await projects.hiddenFrom(db, principal) }
  },
  async execute({ db, clock }, input, where) {
    const { ids, created, page, limit, sort } = input
    const [min, max] = [input.min_duration_seconds ?? null, input.max_duration_seconds ?? null]
    const { jobs: rows, total } = await jobs.list(db, {
      ...where,
      jobTypes: intersection(input.processId, input.processIds),
      statuses: intersection(input.status, input.statuses),
      ids: ids == null ? undefined : idsOf(ids),
      created: created == null ? undefined : parseInterval(created, 'created'),
      duration: min === null && max === null ? undefined : { min, max, now: clock.now() },
      oldestFirst: sort === 'created,asc',
      limit,
      offset: page * limit,
    })
    return { jobs: rows.map(toJob), limit, page, total }
  },
})

/** Combines a single filter value with a list of them; either can be absent. */
function intersection<T>(value: T | null | undefined, values: readonly T[] | null | undefined): readonly T[] | undefined {
  if (value == null) return values ?? undefined
  return values == null || values.includes(value) ? [value] : []
}

function idsOf(text: string): string[] {
  const ids = text.split(',').map((id) => id.trim())
  if (ids.length > MAX_IDS || !ids.every(isUuid)) throw invalidField('ids', `must be at most ${MAX_IDS} job IDs, separated by commas`)
  return ids
}
