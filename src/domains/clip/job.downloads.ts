import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { filesOf, requireCompleted, toFile } from './clips.lib.ts'
import { ClipFile, EXAMPLE_CLIP_ID, EXAMPLE_FILE, JobId } from './wire.ts'

/** The files of a completed clip job. */
export default operation({
  id: 'clip.job.downloads',
  scope: 'clip:read',
  tier: 'read',
  input: Closed({ job_id: JobId }),
  output: Type.Array(ClipFile, { description: 'Output files of the job' }),
  example: { input: { job_id: EXAMPLE_CLIP_ID }, output: [EXAMPLE_FILE] },
}).handle({
  check: (context, { job_id }) => requireCompleted(context, job_id),
  async execute(context, _input, job) {
    return (await filesOf(context, [job])).get(job.id)!.map(toFile)
  },
})
