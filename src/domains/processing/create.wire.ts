import Type from 'typebox'
import { Closed, Described, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import type { Job } from '#model/processing/job.ts'
import { EXAMPLE_AT } from '#wire/examples.ts'
import { EXAMPLE_JOB, JobRecord, toJob } from '#wire/job.ts'
import { EXAMPLE_PARAMS } from './wire.ts'

export const NewJobInput = Closed({
  project_id: Described(Uuid, 'ID of the project for the outputs; it must have a storage bucket'),
  job_type_id: Type.String({ minLength: 1, maxLength: 100, description: 'Job type ID from `processing.job_types.list`' }),
  input_params: Type.Unsafe<Record<string, unknown>>({ ...FreeForm, description: 'Parameters of the process' }),
  target_collection_id: Type.Optional(Nullable(Described(Uuid, 'ID of the collection to add the outputs to'))),
})
export const EXAMPLE_NEW_JOB = { project_id: EXAMPLE_JOB.project_id, job_type_id: 'band_math', input_params: EXAMPLE_PARAMS }

const Dispatch = Closed(
  {
    job_id: Described(Uuid, 'Job ID'),
    version: Type.String({ description: 'Process version that runs the job' }),
    dispatched_at: Described(Timestamp, 'Dispatch time'),
  },
  { description: 'Confirmation of the dispatch' },
)
export const Dispatched = Closed(
  { job: JobRecord, dispatch: Dispatch },
  { $id: 'DispatchedJob', description: 'A dispatched processing job' },
)

export const toDispatched = (job: Job) => ({
  job: toJob(job),
  dispatch: { job_id: job.id, version: job.version, dispatched_at: job.dispatchedAt!.toISOString() },
})
export const EXAMPLE_DISPATCHED = { job: EXAMPLE_JOB, dispatch: { job_id: EXAMPLE_JOB.id, version: '1', dispatched_at: EXAMPLE_AT } }
