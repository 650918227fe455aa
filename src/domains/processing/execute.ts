import Type from 'typebox'
import { setTimeout as sleep } from 'node:timers/promises'
import { Choice, Closed, Defaulted, Described, FreeForm, Nullable, Uuid } from '#core/shapes.ts'
import { JOB_OUTPUTS } from '#core/vocabulary.ts'
import * as jobs from '#model/processing/job.ts'
import { operation, type Context } from '#operation.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { checkJob, fundJob, permitJob, storeJob } from '#services/processing/jobs.ts'
import { EXAMPLE_JOB, JobRecord, JobResponse, toJob } from '#wire/job.ts'
import { EXAMPLE_PARAMS, MAX_PARAMS_BYTES, MaybeInputs, ProcessId } from './wire.ts'

const MAX_WAIT_SECONDS = 25
const POLL_MS = 250

/** Creates and dispatches a job, and waits a moment for it to end. `outputs` is null if it is still running. */
export default operation({
  id: 'processing.execute',
  scope: 'processing:process',
  tier: 'external_spend',
  idempotent: true,
  maxBodyBytes: MAX_PARAMS_BYTES,
  produces: ['processing_job:used>item'],
  events: ['job.created', 'credits.low_balance', 'credits.depleted'],
  input: Closed({
    process_id: ProcessId,
    workspaceId: Described(Uuid, 'ID of the project for the outputs'),
    inputs: MaybeInputs,
    response: Defaulted(JobResponse, 'document'),
    outputs: Type.Optional(
      Nullable(
        Type.Array(Choice(JOB_OUTPUTS), {
          maxItems: JOB_OUTPUTS.length,
          description: 'Outputs to include in the results (default: all)',
        }),
      ),
    ),
    wait_seconds: Defaulted(Type.Integer({ minimum: 0, maximum: MAX_WAIT_SECONDS }), MAX_WAIT_SECONDS, {
      description: 'Seconds to wait for the job to end',
    }),
  }),
  output: Closed(
    {
      job: JobRecord,
      outputs: Described(Nullable(FreeForm), 'Outputs of the job; null unless completed'),
    },
    { description: 'The job and its outputs' },
  ),
  example: {
    input: { process_id: 'band_math', workspaceId: EXAMPLE_JOB.project_id, inputs: EXAMPLE_PARAMS },
    output: { job: EXAMPLE_JOB, outputs: null },
  },
}).handle({
  permit: (context, { workspaceId }) => permitJob(context, workspaceId),
  check: (context, { process_id, workspaceId, inputs = {} }) =>
    checkJob(context, { process: requireProcess(process_id), projectId: workspaceId, params: inputs, field: 'inputs' }),
  prepare: (context, _input, checked) => fundJob(context, checked, 'processing.execute'),
  async execute(context, { response, outputs = null }, checked, funding) {
    return toResponse(await storeJob(context, checked, funding, { dispatch: true, requested: { response, outputs } }))
  },
  async afterwards(context, { wait_seconds }, response) {
    const job = await waitForEnd(context, response.job.id, wait_seconds)
    return job ? toResponse(job) : response
  },
})

const toResponse = (job: jobs.Job) => ({ job: toJob(job), outputs: job.status === 'completed' ? job.outputArtifacts : null })

/** The job when it has ended or the time to wait is over; null if it was deleted. */
async function waitForEnd({ db, signal }: Context, id: string, seconds: number): Promise<jobs.Job | null> {
  const until = performance.now() + seconds * 1_000
  for (;;) {
    const job = await jobs.find(db, id)
    if (!job || job.completedAt || signal.aborted || performance.now() >= until) return job
    await sleep(POLL_MS)
  }
}
