/** A processing job as it is told to whoever may read it. */
import Type from 'typebox'
import { Choice, Closed, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { JOB_RESPONSES, JOB_STATUSES } from '#core/vocabulary.ts'
import type { Job } from '#model/processing/job.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from './examples.ts'

export const JobId = Type.With(Uuid, { description: 'The job' })
export const JobState = Choice(JOB_STATUSES, { description: 'pending and dispatched wait, running works, the others have ended' })
export const JobResponse = Choice(JOB_RESPONSES, {
  description: 'What /jobs/{id}/results returns: a document with every output by name, or the raw value of the only one',
})
const described = <T extends Parameters<typeof Nullable>[0]>(schema: T, description: string) => Type.With(Nullable(schema), { description })

export const JobRecord = Closed(
  {
    id: JobId,
    organization_id: Type.With(Uuid, { description: 'Whose it is, and who pays' }),
    project_id: Type.With(Uuid, { description: 'Where its outputs are registered' }),
    job_type: Type.String({ description: 'The name of its type' }),
    job_type_id: Type.String({ description: 'The id that processing.create takes' }),
    status: JobState,
    progress: Type.Number({ minimum: 0, maximum: 100, description: 'Percent of the whole' }),
    stage: Type.String({ description: 'What is being done, in a few words' }),
    input_params: Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'What it was given, with defaults' }),
    target_collection_id: described(Uuid, 'The collection that outputs go to'),
    source_item_ids: Type.Array(Type.String(), { description: 'The items that it works on' }),
    reserved_credits: Type.Integer({ description: 'Credits set aside when it was created' }),
    captured_credits: described(Type.Integer(), 'Credits that it cost in the end; null until it has ended'),
    output_item_ids: Type.Array(Type.String(), { description: 'The items that it made' }),
    output_artifacts: described(FreeForm, 'What it made, file by file; null until it is completed'),
    error: described(Type.String(), 'Why it failed'),
    response: JobResponse,
    requested_outputs: described(Type.Array(Type.String()), 'The outputs that its results have; null: all of them'),
    created_by: described(Uuid, 'The person who asked for it'),
    api_key_id: described(Uuid, 'The key that it was asked with'),
    created_at: Timestamp,
    dispatched_at: described(Timestamp, 'When it was handed over to be worked on'),
    started_at: described(Timestamp, 'When somebody began to work on it'),
    completed_at: described(Timestamp, 'When it ended, well or not'),
  },
  { $id: 'ProcessingJob' },
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
