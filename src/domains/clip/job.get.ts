import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { filesOf, requireClip, toFile } from './clips.lib.ts'
import { ClipJobRecord, EXAMPLE_CLIP, JobId, toClipJob } from './wire.ts'

/** One clip job, with its files once it is completed. */
export default operation({
  id: 'clip.job.get',
  scope: 'clip:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ job_id: JobId }),
  output: ClipJobRecord,
  example: { input: { job_id: EXAMPLE_CLIP.id }, output: EXAMPLE_CLIP },
}).handle({
  check: (context, { job_id }) => requireClip(context, job_id),
  async execute(context, _input, job) {
    return toClipJob(job, (await filesOf(context, [job])).get(job.id)?.map(toFile) ?? null)
  },
})
