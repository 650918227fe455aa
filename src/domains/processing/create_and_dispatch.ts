import { operation } from '#operation.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { checkJob, fundJob, permitJob, storeJob } from '#services/processing/jobs.ts'
import { Dispatched, EXAMPLE_DISPATCHED, EXAMPLE_NEW_JOB, NewJobInput, toDispatched } from './create.wire.ts'
import { MAX_PARAMS_BYTES } from './wire.ts'

/** Creates a job, reserves its credits and dispatches it, all or nothing. */
export default operation({
  id: 'processing.create_and_dispatch',
  scope: 'processing:process',
  tier: 'external_spend',
  idempotent: true,
  maxBodyBytes: MAX_PARAMS_BYTES,
  produces: ['processing_job:used>item'],
  events: ['job.created', 'credits.low_balance', 'credits.depleted'],
  input: NewJobInput,
  output: Dispatched,
  example: { input: EXAMPLE_NEW_JOB, output: EXAMPLE_DISPATCHED },
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
  prepare: (context, _input, checked) => fundJob(context, checked, 'processing.create_and_dispatch'),
  async execute(context, _input, checked, funding) {
    return toDispatched(await storeJob(context, checked, funding, { dispatch: true }))
  },
})
