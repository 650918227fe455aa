import Type from 'typebox'
import { GeoJsonGeometry } from '#core/geojson-shapes.ts'
import { accessDenied, invalidField, notFound, problem } from '#core/problem.ts'
import { isMediaType } from '#core/file-names.ts'
import { SERVICE } from '#core/principal.ts'
import { Choice, Closed, Defaulted, Described, Nullable, type Received } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import * as jobs from '#model/processing/job.ts'
import * as runs from '#model/processing/run.ts'
import { operation, type Context, type WriteContext } from '#operation.ts'
import { COG_TYPE } from '#services/ingest/intake.ts'
import { findProcess } from '#services/processing/catalogue.ts'
import { failJob } from '#services/processing/end-job.ts'
import {
  discardOutputs,
  registerOutputs,
  storeOutputs,
  type OutputAsset,
  type OutputItem,
  type StoredItem,
} from '#services/processing/outputs.ts'
import { workerObject } from '#services/processing/worker-files.ts'
import { EXAMPLE_JOB, JobId, JobRecord, toJob } from '#wire/job.ts'

const MAX_OUTPUTS = 200
const Text = (maxLength: number, description: string) => Type.Optional(Type.String({ minLength: 1, maxLength, description }))

const Output = Closed({
  name: Type.String({ minLength: 1, maxLength: 180, description: 'Name the file was uploaded under' }),
  key: Text(255, 'Asset key; `data` by default'),
  title: Text(500, 'Asset title'),
  media_type: Text(200, 'Media type; Cloud-Optimized GeoTIFF by default'),
  roles: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 16, description: 'Asset roles; `data` by default' }),
  ),
  is_categorical: Type.Optional(Type.Boolean({ description: 'Whether pixel values are class codes' })),
  item: Text(200, 'Item name; files with the same name become assets of one item'),
  geometry: Type.Optional(Described(GeoJsonGeometry, 'Footprint of an item without a raster')),
})

const Input = Closed({
  job_id: JobId,
  status: Defaulted(Choice(['running', 'completed', 'failed']), 'completed', {
    description: 'New job status; `running` reports progress and extends the lease',
  }),
  progress: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 100, description: 'Progress in percent' }))),
  stage: Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'Current stage' }))),
  outputs: Type.Optional(Nullable(Type.Array(Output, { maxItems: MAX_OUTPUTS, description: 'Uploaded files, for a completed job' }))),
  error: Type.Optional(Nullable(Type.String({ maxLength: 1_000, description: 'Why the job failed; null if it has not' }))),
})

/**
 * An external worker reports on the job of its token: progress, outputs or failure. Completing registers the outputs,
 * captures the price and records the lineage; a job that has ended stays unchanged.
 */
export default operation({
  id: 'processing.job.register',
  scope: 'processing:process',
  tier: 'external_spend',
  callableByWorkers: true,
  idempotent: true,
  produces: ['item:produced_by>processing_job', 'asset:produced_by>processing_job', 'item:derived_from>item'],
  events: ['job.completed', 'job.captured', 'job.failed', 'job.released', 'item.created'],
  input: Input,
  output: Closed({ job: JobRecord }, { description: 'The updated job' }),
  example: {
    input: { job_id: EXAMPLE_JOB.id, status: 'running', progress: 40, stage: 'computing' },
    output: { job: { ...EXAMPLE_JOB, status: 'running' as const, progress: 40, stage: 'computing' } },
  },
}).handle({
  async permit({ principal }, { job_id }) {
    if (principal.kind !== 'worker' || principal.jobId !== job_id.toLowerCase()) throw accessDenied()
  },
  async check({ db }, { job_id, status, outputs }) {
    const job = await jobs.find(db, job_id)
    if (!job) throw notFound('job')
    if (job.completedAt) return { job, run: null }
    if (job.status !== 'running') throw problem('bad-request', `Only a running job accepts reports; this one is ${job.status}`)
    if (status === 'completed' && !outputs?.length) throw invalidField('outputs', 'must have at least one file if status is completed')
    return { job, run: { ...job, runId: job.runId! } }
  },
  async prepare(context, { status, outputs }, { run }): Promise<StoredItem[]> {
    if (!run || status !== 'completed') return []
    const bucket = await bucketOf(context, run)
    for (const [index, { name }] of outputs!.entries())
      if ((await context.storage.stat(workerObject(bucket, run.id, name), context.signal)) === null)
        throw invalidField(`outputs.${index}.name`, `no file '${name}' was uploaded`)
    return await storeOutputs(context, bucket, itemsOf(outputs!, run, bucket))
  },
  async execute(context, input, { job, run }, stored) {
    context.attributeTo(job.organizationId)
    if (!run) return unchanged(context, job)
    if (input.status === 'completed') return { job: toJob(await complete(context, run, stored)) }
    context.lineage.nothingProduced()
    if (input.status === 'failed') await failJob(context, run, run.runId, input.error ?? 'The worker reported a failure without a reason')
    else
      await runs.heartbeat(
        context.tx,
        run,
        { stage: input.stage ?? run.stage, progress: input.progress ?? run.progress },
        context.clock.now(),
      )
    return { job: toJob(await jobs.lock(context.tx, run.id)) }
  },
})

function unchanged({ lineage }: WriteContext, job: jobs.Job) {
  lineage.nothingProduced()
  return { job: toJob(job) }
}

async function complete(context: WriteContext, run: runs.Run, stored: StoredItem[]): Promise<jobs.Job> {
  let completed: jobs.Job | null = null
  try {
    completed = await registerOutputs(context, run, stored, { title: findProcess(run.jobType)?.title ?? run.jobType })
  } finally {
    if (!completed) await discardOutputs(context, stored)
  }
  if (completed) return completed
  context.lineage.nothingProduced()
  return await jobs.lock(context.tx, run.id)
}

async function bucketOf({ db }: Context, { projectId, organizationId }: jobs.Job): Promise<string> {
  return (await projects.requireReader(db, { ...SERVICE, organizationId }, projectId)).bucketName!
}

/** Files with the same item name become assets of one item, in the given order. */
function itemsOf(outputs: NonNullable<Received<typeof Input>['outputs']>, run: runs.Run, bucket: string): OutputItem[] {
  const defaultName = `${findProcess(run.jobType)?.title ?? run.jobType} ${run.createdAt.toISOString().slice(0, 10)}`
  const groups = Map.groupBy(outputs, ({ item }) => item ?? defaultName)
  return [...groups].map(([name, files]) => {
    const assets = files.map((file, index): OutputAsset => {
      const mediaType = file.media_type ?? COG_TYPE
      if (!isMediaType(mediaType)) throw invalidField('outputs', `'${mediaType}' is not a valid media type`)
      return {
        key: file.key ?? (index === 0 ? 'data' : `data_${index + 1}`),
        title: file.title ?? file.name,
        roles: file.roles ?? ['data'],
        mediaType,
        object: workerObject(bucket, run.id, file.name),
        ...(file.is_categorical === undefined ? {} : { isCategorical: file.is_categorical }),
      }
    })
    const hasRaster = assets.some(({ mediaType }) => mediaType.startsWith('image/tiff'))
    const geometry = files.find((file) => file.geometry)?.geometry
    if (!hasRaster && !geometry) throw invalidField('outputs', `the item '${name}' has no raster, so geometry is required`)
    const type = hasRaster ? ('derived_raster' as const) : ('derived_vector' as const)
    return { name, type, assets, ...(geometry ? { geometry } : {}) }
  })
}
