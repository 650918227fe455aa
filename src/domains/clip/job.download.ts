import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import * as downloadQuotas from '#model/plans/download-quota.ts'
import { operation } from '#operation.ts'
import { filesOf, requireCompleted } from './clips.lib.ts'
import { EXAMPLE_CLIP_ID, JobId } from './wire.ts'

const unused = (description: string) => Type.Optional(Nullable(Type.String({ maxLength: 500, description })))

/** Streams one file of a completed clip job. It counts as a download against the limits of the organization's plan. */
export default operation({
  id: 'clip.job.download',
  scope: 'clip:read',
  tier: 'read',
  raw: 'bytes',
  mediaTypes: ['image/tiff'],
  input: Closed({
    job_id: JobId,
    mosaic_type: Type.String({ minLength: 1, maxLength: 255, description: 'Mosaic type of the file, from `clip.job.downloads`' }),
    user_agent: unused('Ignored; the User-Agent header is used'),
    requester_ip: unused('Ignored; the IP address of the request is used'),
  }),
  output: Type.Any(),
  example: { input: { job_id: EXAMPLE_CLIP_ID, mosaic_type: 'data' } },
}).handle({
  async check(context, { job_id, mosaic_type }) {
    const job = await requireCompleted(context, job_id)
    const file = (await filesOf(context, [job])).get(job.id)!.find((clip) => clip.mosaic_type === mosaic_type)
    if (!file) throw notFound(`file '${mosaic_type.slice(0, 100)}' of this clip`)
    return { file, organizationId: job.organizationId }
  },
  async execute({ storage, commit, principal, clock, invocationId, attributeTo, signal }, _input, { file, organizationId }) {
    attributeTo(organizationId)
    // The bytes pass through this process, so they are counted here for every kind of store.
    await commit(organizationId, 'clip.job.download', async ({ tx }) => {
      const downloader = { organizationId, principal, invocationId, now: clock.now() }
      const download = { kind: 'clip' as const, itemId: file.itemId, assetId: file.assetId, bytes: file.size_bytes }
      await downloadQuotas.start(tx, downloader, [download], { countsEgress: false })
    })
    return {
      contentType: 'image/tiff',
      headers: {
        'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.filename)}`,
        'Content-Length': String(file.size_bytes),
      },
      body: await storage.read(file.at, { signal }),
    }
  },
})
