import Type, { type Static } from 'typebox'
import { Choice, Closed, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { ClipArea } from '#ports/clip-areas.ts'
import type { Job } from '#model/processing/job.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { Box } from '#wire/item.ts'
import { EXAMPLE_JOB } from '#wire/job.ts'

/** As clips show it: what waits for a worker counts as running. */
const CLIP_STATUSES = ['running', 'completed', 'failed', 'cancelled'] as const
export type ClipStatus = (typeof CLIP_STATUSES)[number]
export const ClipState = Choice(CLIP_STATUSES, { description: 'running until it has ended, one way or another' })

export const statusOf = ({ status }: Pick<Job, 'status'>): ClipStatus =>
  status === 'pending' || status === 'dispatched' ? 'running' : status

export const AoiGeometry = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'GeoJSON Polygon or MultiPolygon in longitude and latitude, at most 999 vertices',
})
export const AreaId = Type.String({ minLength: 1, maxLength: 100, description: 'An area of clip.areas.list' })
const MosaicType = Type.String({ description: 'Key of the clipped asset, or type of the clipped mosaic' })

export const ClipFile = Closed(
  {
    mosaic_type: MosaicType,
    filename: Type.String({ description: 'What it is called when it is downloaded' }),
    size_bytes: Type.Integer({ description: 'Bytes of the file' }),
    gcs_path: Type.String({ description: 'Path in the object store; clip.job.download streams it' }),
  },
  { $id: 'ClipFile' },
)
export type ClipFile = Static<typeof ClipFile>

export const JobId = Type.With(Uuid, { description: 'The clip job' })

export const ClipJobRecord = Closed(
  {
    id: JobId,
    status: ClipState,
    job_type: Type.String({ description: 'cog_clip' }),
    organization_id: Type.With(Uuid, { description: 'Who asked for it and pays' }),
    project_id: Type.With(Uuid, { description: 'Where the result is registered as an item' }),
    progress: Type.Number({ description: 'Percent of the whole' }),
    stage: Type.String({ description: 'What is being done' }),
    output_artifacts: Nullable(
      Closed(
        { clips: Type.Array(ClipFile, { description: 'One for each raster that was clipped' }) },
        { description: 'Null until it is completed' },
      ),
    ),
    output_item_ids: Type.Array(Type.String(), { description: 'The items that it made' }),
    reserved_credits: Type.Integer({ description: 'Credits set aside for it' }),
    captured_credits: Nullable(Type.Integer({ description: 'Credits that it cost; null until it has ended' })),
    error: Nullable(Type.String({ description: 'Why it failed' })),
    created_at: Type.With(Timestamp, { description: 'When it was asked for' }),
    completed_at: Nullable(Type.With(Timestamp, { description: 'When it ended' })),
  },
  { $id: 'ClipJob' },
)

export const toClipJob = (job: Job, clips: readonly ClipFile[] | null): Static<typeof ClipJobRecord> => ({
  id: job.id,
  status: statusOf(job),
  job_type: job.jobType,
  organization_id: job.organizationId,
  project_id: job.projectId,
  progress: job.progress,
  stage: job.stage,
  output_artifacts: clips && { clips: [...clips] },
  output_item_ids: [...job.outputItemIds],
  reserved_credits: job.reservedCredits,
  captured_credits: job.capturedCredits,
  error: job.error,
  created_at: job.createdAt.toISOString(),
  completed_at: job.completedAt?.toISOString() ?? null,
})

/** What a call that makes one answers with: the job in short. */
export const Created = Closed({
  job: Closed(
    {
      id: JobId,
      status: ClipState,
      job_type: Type.String({ description: 'cog_clip' }),
      organization_id: Type.With(Uuid, { description: 'Who pays' }),
    },
    { description: 'The job, already running' },
  ),
  assets_to_clip: Type.Integer({ description: 'How many rasters are clipped' }),
  asset_keys: Type.Array(Type.String(), { description: 'Which ones' }),
})

export const toCreated = (job: Job, keys: readonly string[]): Static<typeof Created> => ({
  job: { id: job.id, status: statusOf(job), job_type: job.jobType, organization_id: job.organizationId },
  assets_to_clip: keys.length,
  asset_keys: [...keys],
})

export const EXAMPLE_CLIP_ID = EXAMPLE_JOB.id
export const EXAMPLE_FILE: ClipFile = {
  mosaic_type: 'data',
  filename: 'S2B_55KFA_20260214_0_L2A clipped.tif',
  size_bytes: 4_194_304,
  gcs_path: 'store://svc-0199f2c4/0199f2c6-8888/data.tif',
}
export const EXAMPLE_CLIP: Static<typeof ClipJobRecord> = {
  id: EXAMPLE_CLIP_ID,
  status: 'completed',
  job_type: 'cog_clip',
  organization_id: EXAMPLE_IDS.organization,
  project_id: EXAMPLE_IDS.project,
  progress: 100,
  stage: 'done',
  output_artifacts: { clips: [EXAMPLE_FILE] },
  output_item_ids: [EXAMPLE_IDS.item],
  reserved_credits: 5,
  captured_credits: 5,
  error: null,
  created_at: EXAMPLE_AT,
  completed_at: EXAMPLE_AT,
}
export const EXAMPLE_CREATED: Static<typeof Created> = {
  job: { id: EXAMPLE_CLIP_ID, status: 'running', job_type: 'cog_clip', organization_id: EXAMPLE_IDS.organization },
  assets_to_clip: 1,
  asset_keys: ['data'],
}
export const EXAMPLE_AOI = {
  type: 'Polygon',
  coordinates: [
    [
      [146.3, -18.6],
      [146.5, -18.6],
      [146.5, -18.4],
      [146.3, -18.4],
      [146.3, -18.6],
    ],
  ],
}

export const AreaSummary = Closed(
  {
    id: AreaId,
    name: Type.String({ description: 'Name as people read it' }),
    bbox: Type.With(Box, { description: 'West, south, east and north' }),
  },
  { $id: 'ClipAreaSummary' },
)
export const toArea = ({ id, name, bbox }: ClipArea) => ({ id, name, bbox: [...bbox] })
export const EXAMPLE_AREA = { id: 'demo-plain', name: 'Demo plain', bbox: [1.31, 47.63, 2.49, 48.48] }
