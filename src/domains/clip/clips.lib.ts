/** Clip jobs, and the files that they made. */
import { notFound, problem } from '#core/problem.ts'
import * as asset from '#model/imagery/asset.ts'
import * as item from '#model/imagery/item-read.ts'
import * as job from '#model/processing/job.ts'
import type { Context } from '#operation.ts'
import type { ObjectRef } from '#ports/storage.ts'
import type { ClipArea } from '#ports/clip-areas.ts'
import { statusOf, type ClipFile } from './wire.ts'

export const CLIP_PROCESS = 'cog_clip'

/** A clip job that the caller may read. Jobs of other kinds and of other people are none, in the same words. */
export async function requireClip({ db, principal }: Pick<Context, 'db' | 'principal'>, id: string): Promise<job.Job> {
  const found = await job.requireReader(db, principal, id)
  if (found.jobType !== CLIP_PROCESS) throw notFound('job')
  return found
}

/** 400 until it is completed. */
export async function requireCompleted(context: Pick<Context, 'db' | 'principal'>, id: string): Promise<job.Job> {
  const found = await requireClip(context, id)
  if (found.status !== 'completed') throw problem('bad-request', `This clip is ${statusOf(found)}; only a completed one has files`)
  return found
}

/** One file of a clip: where it is and what it is called. */
interface StoredClip extends ClipFile {
  at: ObjectRef
  itemId: string
  assetId: string
}

/** Files of completed clips, by job. Those of items that were deleted since are gone with them. */
export async function filesOf(
  { db, storage }: Pick<Context, 'db' | 'storage'>,
  jobs: readonly job.Job[],
): Promise<Map<string, StoredClip[]>> {
  const wanted = jobs.filter(({ status }) => status === 'completed')
  const items = await item.ofJobs(db, wanted)
  const assets = await asset.listOf(
    db,
    items.map(({ seq }) => seq),
  )
  const files = new Map<string, StoredClip[]>(wanted.map(({ id }) => [id, []]))
  for (const made of items)
    for (const { id, key, bucket, objectKey, fileSizeBytes, mediaType } of assets.get(made.seq) ?? []) {
      if (objectKey === null) continue
      const at = { bucket: bucket!, key: objectKey }
      files.get(made.jobId!)!.push({
        mosaic_type: key,
        filename: asset.fileNameOf({ key, mediaType, objectKey }, made.name),
        size_bytes: fileSizeBytes ?? 0,
        gcs_path: storage.address(at),
        at,
        itemId: made.id,
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
  const found = clipAreas.find((area) => area.id === id)
  if (!found) throw notFound('clip area')
  return found
}
