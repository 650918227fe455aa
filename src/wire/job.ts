/** A processing job in responses. */
import Type from 'typebox'
import { Choice, Closed, Described, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { JOB_RESPONSES, JOB_STATUSES } from '#core/vocabulary.ts'
import type { Job } from '#model/processing/job.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from './examples.ts'

export const JobId = Described(Uuid, 'Job ID')
export const JobState = Choice(JOB_STATUSES, { description: 'Job status' })
export const JobResponse = Choice(JOB_RESPONSES, {
  description: 'Form of /jobs/{id}/results: `document` with every output by name, or the `raw` value of the only output',
})
const described = <T extends Parameters<typeof Nullable>[0]>(schema: T, description: string) => Type.With(Nullable(schema), { description })

export const JobRecord = Closed(
  {
    id: JobId,
    organization_id: Described(Uuid, 'ID of the organization that is charged'),
    project_id: Described(Uuid, 'ID of the project for the outputs'),
    job_type: Type.String({ description: 'Job type name' }),
    job_type_id: Type.String({ description: 'Job type ID, as `processing.create` accepts it' }),
    status: JobState,
    progress: Type.Number({ minimum: 0, maximum: 100, description: 'Progress in percent' }),
    stage: Type.String({ description: 'Current stage' }),
    input_params: Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'Parameters of the job, including defaults' }),
    target_collection_id: described(Uuid, 'ID of the collection for the outputs; null if none'),
    source_item_ids: Type.Array(Type.String(), { description: 'IDs of the input items' }),
    reserved_credits: Type.Integer({ description: 'Credits reserved for the job' }),
    captured_credits: described(Type.Integer(), 'Credits charged; null until the job has ended'),
    output_item_ids: Type.Array(Type.String(), { description: 'IDs of the created items' }),
    output_artifacts: described(FreeForm, 'Output files; null until completed'),
    error: described(Type.String(), 'Why the job failed; null if it has not'),
    response: JobResponse,
    requested_outputs: described(Type.Array(Type.String()), 'Outputs included in the results; null for all'),
    created_by: described(Uuid, 'User ID of the creator; null if not created by a user'),
    api_key_id: described(Uuid, 'ID of the API key used; null if created without one'),
    created_at: Described(Timestamp, 'Creation time'),
    dispatched_at: described(Timestamp, 'Dispatch time; null until dispatched'),
    started_at: described(Timestamp, 'Time a worker started the job; null until then'),
    completed_at: described(Timestamp, 'Time the job ended; null until then'),
  },
  { $id: 'ProcessingJob', description: 'A processing job' },
)

const instant = (at: Date | null): string | null => at?.toISOString() ?? null

export function toJob(job: Job) {
  return {
    id: job.id,
    organization_id: job.organizationId,
    project_id: job.projectId,
    job_type: job.jobType,
    job_type_id: job.jobType,
    status: job.status,
    progress: job.progress,
    stage: job.stage,
    input_params: job.inputParams,
    target_collection_id: job.targetCollectionId,
    source_item_ids: job.sourceItemIds,
    reserved_credits: job.reservedCredits,
    captured_credits: job.capturedCredits,
    output_item_ids: job.outputItemIds,
    output_artifacts: job.outputArtifacts,
    error: job.error,
    response: job.response,
    requested_outputs: job.requestedOutputs,
    created_by: job.createdBy,
    api_key_id: job.apiKeyId,
    created_at: job.createdAt.toISOString(),
    dispatched_at: instant(job.dispatchedAt),
    started_at: instant(job.startedAt),
    completed_at: instant(job.completedAt),
  }
}

/** For the reference. */
export const EXAMPLE_JOB = {
  id: '0199f2c6-3333-7abc-8def-0123456789ab',
  organization_id: EXAMPLE_IDS.organization,
  project_id: EXAMPLE_IDS.project,
  job_type: 'band_math',
  job_type_id: 'band_math',
  status: 'dispatched' as const,
  progress: 0,
  stage: 'waiting',
  input_params: { item_id: EXAMPLE_IDS.item, expression: '(b4-b3)/(b4+b3)' },
  target_collection_id: null,
  source_item_ids: [EXAMPLE_IDS.item],
  reserved_credits: 12,
  captured_credits: null,
  output_item_ids: [],
  output_artifacts: null,
  error: null,
  response: 'document' as const,
  requested_outputs: null,
  created_by: EXAMPLE_IDS.user,
  api_key_id: null,
  created_at: EXAMPLE_AT,
  dispatched_at: EXAMPLE_AT,
  started_at: null,
  completed_at: null,
}
