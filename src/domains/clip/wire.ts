import Type, { type Static } from 'typebox'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { Choice, Closed, Described, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { ClipArea } from '#ports/clip-areas.ts'
import type { Job } from '#model/processing/job.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { Box } from '#wire/item.ts'
import { EXAMPLE_JOB } from '#wire/job.ts'

/** A job that waits for a worker is shown as running. */
const CLIP_STATUSES = ['running', 'completed', 'failed', 'cancelled'] as const
export type ClipStatus = (typeof CLIP_STATUSES)[number]
export const ClipState = Choice(CLIP_STATUSES, { description: 'Clip job status' })

export const statusOf = ({ status }: Pick<Job, 'status'>): ClipStatus =>
  status === 'pending' || status === 'dispatched' ? 'running' : status

export const AoiGeometry = Described(GeoJsonArea, 'Area of interest: GeoJSON Polygon or MultiPolygon with at most 999 vertices')
export const AreaId = Type.String({ minLength: 1, maxLength: 100, description: 'Area ID from `clip.areas.list`' })
const MosaicType = Type.String({ description: 'Asset key or mosaic type that was clipped' })

export const ClipFile = Closed(
  {
    mosaic_type: MosaicType,
    filename: Type.String({ description: 'File name of the download' }),
    size_bytes: Type.Integer({ description: 'File size in bytes' }),
    gcs_path: Type.String({ description: 'Path in the object store; download it with `clip.job.download`' }),
  },
  { $id: 'ClipFile', description: 'An output file of a clip job' },
)
export type ClipFile = Static<typeof ClipFile>

export const JobId = Described(Uuid, 'Clip job ID')

export const ClipJobRecord = Closed(
  {
    id: JobId,
    status: ClipState,
    job_type: Type.String({ description: 'Job type, always `cog_clip`' }),
    organization_id: Described(Uuid, 'ID of the organization that is charged'),
    project_id: Described(Uuid, 'ID of the project the result is saved in'),
    progress: Type.Number({ description: 'Progress in percent' }),
    stage: Type.String({ description: 'Current stage' }),
    output_artifacts: Nullable(
      Closed(
        { clips: Type.Array(ClipFile, { description: 'Files of the clipped rasters' }) },
        { description: 'Output files; null until completed' },
      ),
    ),
    output_item_ids: Type.Array(Type.String(), { description: 'IDs of the created items' }),
    reserved_credits: Type.Integer({ description: 'Credits reserved for the job' }),
    captured_credits: Nullable(Type.Integer({ description: 'Credits charged; null until the job has ended' })),
    error: Nullable(Type.String({ description: 'Why the job failed; null if it has not' })),
    created_at: Described(Timestamp, 'Creation time'),
    completed_at: Nullable(Described(Timestamp, 'Time the job ended; null until then')),
  },
  { $id: 'ClipJob', description: 'A clip job' },
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

/** The response of the calls that create a clip job: the job in short. */
export const CreatedClip = Closed(
  {
    job: Closed(
      {
        id: JobId,
        status: ClipState,
        job_type: Type.String({ description: 'Job type, always `cog_clip`' }),
        organization_id: Described(Uuid, 'ID of the organization that is charged'),
      },
      { description: 'The started job' },
    ),
    assets_to_clip: Type.Integer({ description: 'Number of rasters to clip' }),
    asset_keys: Type.Array(Type.String(), { description: 'Asset keys or mosaic types to clip' }),
  },
  { $id: 'StartedClip', description: 'The started clip job' },
)

export const toCreated = (job: Job, keys: readonly string[]): Static<typeof CreatedClip> => ({
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
export const EXAMPLE_CREATED: Static<typeof CreatedClip> = {
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
    name: Type.String({ description: 'Area name' }),
    bbox: Described(Box, 'Bounding box as west, south, east, north in degrees'),
  },
  { $id: 'ClipAreaSummary', description: 'An area that can be clipped' },
)
export const toArea = ({ id, name, bbox }: ClipArea) => ({ id, name, bbox: [...bbox] })
export const EXAMPLE_AREA = { id: 'demo-plain', name: 'Demo plain', bbox: [1.31, 47.63, 2.49, 48.48] }
