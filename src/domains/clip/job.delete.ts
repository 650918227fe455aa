import { Closed, Removed } from '#core/shapes.ts'
import * as itemDelete from '#model/imagery/item-delete.ts'
import * as items from '#model/imagery/item-read.ts'
import * as projects from '#model/identity/project.ts'
import * as jobs from '#model/processing/job.ts'
import { operation } from '#operation.ts'
import { releaseJob } from '#services/processing/end-job.ts'
import { requireClip } from './clips.lib.ts'
import { EXAMPLE_CLIP_ID, JobId } from './wire.ts'

/** Deletes a clip job permanently, with the items that hold its files. A running job is cancelled and its reservation released. */
export default operation({
  id: 'clip.job.delete',
  scope: 'clip:destroy',
  tier: 'destructive',
  events: ['job.released'],
  input: Closed({ job_id: JobId }),
  output: Removed,
  example: { input: { job_id: EXAMPLE_CLIP_ID }, output: { ok: true as const, id: EXAMPLE_CLIP_ID } },
}).handle({
  async check(context, { job_id }) {
    await requireClip(context, job_id)
    return await jobs.requireEditor(context.db, context.principal, job_id)
  },
  async execute(context, _input, { id, organizationId, projectId }) {
    const { tx, clock } = context
    context.attributeTo(organizationId)
    await projects.lock(tx, projectId)
    const job = await jobs.lock(tx, id)
    if (job.completedAt === null) await releaseJob(context, { ...job, status: 'cancelled' }, job.status)
    for (const { seq } of await items.ofJobs(tx, [job])) await itemDelete.softDelete(tx, seq, clock.now(), { evenArchived: true })
    await jobs.remove(tx, id)
    return { ok: true as const, id }
  },
})
