import Type from 'typebox'
import { Closed, Limit, Nullable, Offset } from '#core/shapes.ts'
import type { JobStatus } from '#core/vocabulary.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { CLIP_PROCESS, filesOf, toFile } from './clips.lib.ts'
import { ClipJobRecord, ClipState, EXAMPLE_CLIP, toClipJob, type ClipStatus } from './wire.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/** The stored job statuses of each clip status. */
const STORED: Readonly<Record<ClipStatus, readonly JobStatus[]>> = {
  running: ['pending', 'dispatched', 'running'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
}

/** The organization's clip jobs, newest first. */
export default operation({
  id: 'clip.jobs.list',
  scope: 'clip:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    organization_id: Type.Optional(Type.String({ description: "Organization ID; defaults to the caller's organization" })),
    status: Type.Optional(Nullable(ClipState)),
    limit: Limit(50, 200),
    offset: Offset,
  }),
  output: Closed({
    jobs: Type.Array(ClipJobRecord, { description: 'Clip jobs of this page' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: { organization_id: EXAMPLE_IDS.organization, status: 'completed' }, output: { jobs: [EXAMPLE_CLIP], total: 1 } },
}).handle({
  async check({ principal }, { organization_id }) {
    return organization_id === undefined
      ? organizations.requireOrganization(principal)
      : organizations.requireNamedOrganization(principal, organization_id)
  },
  async execute(context, { status, limit, offset }, organizationId) {
    const { db, principal } = context
    const { jobs: page, total } = await jobs.list(db, {
      organizationId,
      hiddenProjectIds: await projects.hiddenFrom(db, principal),
      jobTypes: [CLIP_PROCESS],
      statuses: status ? STORED[status] : undefined,
      limit,
      offset,
    })
    const files = await filesOf(context, page)
    return { jobs: page.map((job) => toClipJob(job, files.get(job.id)?.map(toFile) ?? null)), total }
  },
})
