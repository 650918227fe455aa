import { Closed } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { checkJob, fundJob, permitJob, storeJob } from '#services/processing/jobs.ts'
import { EXAMPLE_JOB, JobRecord, toJob } from '#wire/job.ts'
import { EXAMPLE_NEW_JOB, NewJobInput } from './create.wire.ts'
import { MAX_PARAMS_BYTES } from './wire.ts'

/** Creates a job and reserves its credits. The job waits for `processing.dispatch`, for at most seven days. */
export default operation({
  id: 'processing.create',
  scope: 'processing:process',
  tier: 'external_spend',
  idempotent: true,
  maxBodyBytes: MAX_PARAMS_BYTES,
  produces: ['processing_job:used>item'],
  events: ['job.created', 'credits.low_balance', 'credits.depleted'],
  input: NewJobInput,
  output: Closed({ job: JobRecord }, { description: 'The created job' }),
  example: { input: EXAMPLE_NEW_JOB, output: { job: { ...EXAMPLE_JOB, status: 'pending' as const, dispatched_at: null } } },
}).handle({
  permit: (context, { project_id }) => permitJob(context, project_id),
  check: (context, { project_id, job_type_id, input_params, target_collection_id }) =>
    checkJob(context, {
      process: requireProcess(job_type_id),
      projectId: project_id,
      params: input_params,
      field: 'input_params',
      targetCollectionId: target_collection_id,
    }),
  prepare: (context, _input, checked) => fundJob(context, checked, 'processing.create'),
  async execute(context, _input, checked, funding) {
    return { job: toJob(await storeJob(context, checked, funding, { dispatch: false })) }
  },
})
