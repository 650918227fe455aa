import Type from 'typebox'
import { Closed, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { Job } from '#model/processing/job.ts'
import { EXAMPLE_AT } from '#wire/examples.ts'
import { EXAMPLE_JOB, JobRecord, toJob } from '#wire/job.ts'
import { EXAMPLE_PARAMS } from './wire.ts'

export const NewJobInput = Closed({
  project_id: Type.With(Uuid, { description: 'Where the outputs are registered; it must have a storage bucket' }),
  job_type_id: Type.String({ minLength: 1, maxLength: 100, description: 'An id of processing.job_types.list' }),
  input_params: Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'Parameters, as the schema of the process has them' }),
  target_collection_id: Type.Optional(Nullable(Type.With(Uuid, { description: 'A collection of the project that outputs go to' }))),
})
export const EXAMPLE_NEW_JOB = { project_id: EXAMPLE_JOB.project_id, job_type_id: 'band_math', input_params: EXAMPLE_PARAMS }

const Dispatch = Closed(
  {
    job_id: Type.With(Uuid, { description: 'The job' }),
    version: Type.String({ description: 'The version of the process that works on it' }),
    dispatched_at: Type.With(Timestamp, { description: 'When it was handed over' }),
  },
  { description: 'That it was handed over to be worked on' },
)
export const Dispatched = Closed({ job: JobRecord, dispatch: Dispatch }, { $id: 'DispatchedJob' })

export const toDispatched = (job: Job) => ({
  job: toJob(job),
  dispatch: { job_id: job.id, version: job.version, dispatched_at: job.dispatchedAt!.toISOString() },
})
export const EXAMPLE_DISPATCHED = { job: EXAMPLE_JOB, dispatch: { job_id: EXAMPLE_JOB.id, version: '1', dispatched_at: EXAMPLE_AT } }
