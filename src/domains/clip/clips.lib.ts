/** Clip jobs and their files. */
import { notFound, problem } from '#core/problem.ts'
import * as assets from '#model/imagery/asset.ts'
import * as items from '#model/imagery/item-read.ts'
import * as jobs from '#model/processing/job.ts'
import type { Context } from '#operation.ts'
import type { ObjectRef } from '#ports/storage.ts'
import type { ClipArea } from '#ports/clip-areas.ts'
import { statusOf, type ClipFile } from './wire.ts'

export const CLIP_PROCESS = 'cog_clip'

/** A clip job that the caller can read. Jobs of other types and of other users give the same 404 as unknown IDs. */
export async function requireClip({ db, principal }: Pick<Context, 'db' | 'principal'>, id: string): Promise<jobs.Job> {
  const job = await jobs.requireReader(db, principal, id)
  if (job.jobType !== CLIP_PROCESS) throw notFound('job')
  return job
}

/** A completed clip job; 400 before it is completed. */
export async function requireCompleted(context: Pick<Context, 'db' | 'principal'>, id: string): Promise<jobs.Job> {
  const job = await requireClip(context, id)
  if (job.status !== 'completed') throw problem('bad-request', `This clip is ${statusOf(job)}; only completed clips have files`)
  return job
}

/** One file of a clip, with its location in the store. */
interface StoredClip extends ClipFile {
  at: ObjectRef
  itemId: string
  assetId: string
}

/** Files of completed clips by job ID, without those of items that were deleted since. */
export async function filesOf(
  { db, storage }: Pick<Context, 'db' | 'storage'>,
  clipJobs: readonly jobs.Job[],
): Promise<Map<string, StoredClip[]>> {
  const completed = clipJobs.filter(({ status }) => status === 'completed')
  const outputs = await items.ofJobs(db, completed)
  const assetsByItem = await assets.listOf(
    db,
    outputs.map(({ seq }) => seq),
  )
  const files = new Map<string, StoredClip[]>(completed.map(({ id }) => [id, []]))
  for (const item of outputs)
    for (const { id, key, bucket, objectKey, fileSizeBytes, mediaType } of assetsByItem.get(item.seq) ?? []) {
      if (objectKey === null) continue
      const at = { bucket: bucket!, key: objectKey }
      files.get(item.jobId!)!.push({
        mosaic_type: key,
        filename: assets.fileNameOf({ key, mediaType, objectKey }, item.name),
        size_bytes: fileSizeBytes ?? 0,
        gcs_path: storage.uriOf(at),
        at,
        itemId: item.id,
        assetId: id,
      })
    }
  return files
}

export const toFile = ({ mosaic_type, filename, size_bytes, gcs_path }: StoredClip): ClipFile => ({
  mosaic_type,
  filename,
  size_bytes,
  gcs_path,
})

export function requireArea({ clipAreas }: Pick<Context, 'clipAreas'>, id: string): ClipArea {
  const area = clipAreas.find((candidate) => candidate.id === id)
  if (!area) throw notFound('clip area')
  return area
}
