/** How external workers claim jobs and get URLs for their outputs. They report everything else through `processing.job.register`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isMediaType } from '#core/file-names.ts'
import { SERVICE } from '#core/principal.ts'
import { accessDenied, invalidField, notFound, problem, Problem } from '#core/problem.ts'
import { signWorkerToken, type Tokens } from '#access/tokens.ts'
import * as projects from '#model/identity/project.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as jobs from '#model/processing/job.ts'
import * as runs from '#model/processing/run.ts'
import type { Platform } from '#pipeline/platform.ts'
import { requireProcess } from '#services/processing/catalogue.ts'
import { failJob } from '#services/processing/end-job.ts'
import type { FileSource, StackSource } from '#ports/raster.ts'
import { findSources } from '#services/processing/sources.ts'
import { PUT_SECONDS, workerObject } from '#services/processing/worker-files.ts'
import { toJob } from '#wire/job.ts'

const POLL_MS = 500
/** As for the job's token: a worker can still report shortly after its timeout. */
const GRACE_SECONDS = 600

interface Claim {
  secret: string
  /** A subset of those that the worker is registered for; null for all of them. */
  jobTypes: readonly string[] | null
  waitSeconds: number
  signal: AbortSignal
}

/** Claims the oldest queued job for this worker; null if there is none in time. */
export async function claimJob(platform: Platform, tokens: Tokens, { secret, jobTypes, waitSeconds, signal }: Claim) {
  const worker = platform.services.workers.identify(secret)
  if (!worker)
    throw problem('unauthorized', 'This is not the secret of a registered worker', {
      headers: { 'WWW-Authenticate': 'Bearer realm="workers"' },
    })
  const types = jobTypes ?? worker.jobTypes
  const unregistered = types.find((type) => !worker.jobTypes.includes(type))
  if (unregistered !== undefined) throw problem('forbidden', `This worker is not registered for '${unregistered}'`)
  const until = performance.now() + waitSeconds * 1_000
  for (;;) {
    const claimed = await claimNext(platform, worker.name, types)
    if (claimed) {
      const assignment = await assign(platform, tokens, claimed)
      if (assignment) return assignment
      continue // Its inputs could not be prepared, so the job has failed: take the next one.
    }
    if (signal.aborted || performance.now() >= until) return null
    await sleep(POLL_MS)
  }
}

/** Claims a job and emits that it has started, in one transaction. */
async function claimNext(
  { db, services: { clock, commit } }: Platform,
  worker: string,
  jobTypes: readonly string[],
): Promise<runs.Run | null> {
  const waiting = await runs.nextWaiting(db, jobTypes, 'worker', clock.now())
  if (!waiting) return null
  return await commit(waiting.organizationId, 'workers.claim', async ({ tx, events }) => {
    const run = await runs.claim(tx, worker, waiting.id, clock.now())
    if (run) events.emit('job.started', run.id, jobs.summary(run, 'dispatched'))
    return run
  })
}

async function assign(platform: Platform, tokens: Tokens, run: runs.Run) {
  try {
    const inputs = await inputsOf(platform, run)
    const token = await signWorkerToken(tokens, { id: run.id, organizationId: run.organizationId, timeoutSeconds: run.timeoutSeconds })
    return { job: toJob(run), token, inputs, outputs_url_template: `${platform.baseUrl()}/workers/jobs/${run.id}/outputs/{name}` }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    await platform.services.commit(run.organizationId, 'workers.claim', async (change) => {
      await failJob(change, run, run.runId, error.message)
    })
    return null
  }
}

async function inputsOf({ db, services: { raster, storage, vendors } }: Platform, run: runs.Run) {
  const process = requireProcess(run.jobType)
  const means = { db, raster, vendors, principal: { ...SERVICE, organizationId: run.organizationId }, signal: new AbortController().signal }
  const sources = await findSources(means, process, run.inputParams, run.organizationId)
  const expiresInSeconds = run.timeoutSeconds + GRACE_SECONDS
  const addressOf = async (source: FileSource): Promise<string> =>
    'object' in source ? await storage.signGet({ ...source.object, expiresInSeconds }) : 'url' in source ? source.url : source.path
  return await Promise.all(
    sources.flatMap(({ item, key, source }) => {
      if ('stack' in source) requireReadable(source)
      const files =
        'stack' in source ? source.stack.map((member) => ({ key: member.asset ?? member.name, source: member.source })) : [{ key, source }]
      return files.map(async (file) => ({ item_id: item?.id ?? null, asset_key: file.key, url: await addressOf(file.source) }))
    }),
  )
}

/** A worker gets all files of a stack: without one of them it would compute something else. */
function requireReadable({ stack }: StackSource): void {
  const missing = stack.find((member) => member.problem !== undefined)
  if (missing) throw problem('bad-request', missing.problem!)
}

/** A short-lived URL to PUT one output to, for the holder of the job's token. */
export async function signOutput(
  platform: Platform,
  tokens: Tokens,
  asked: { token: string; jobId: string; name: string; contentType: string },
) {
  const {
    db,
    services: { storage },
  } = platform
  const claims = await tokens.verify(asked.token)
  if (claims?.typ !== 'worker')
    throw problem('unauthorized', 'Send the job token as a bearer token', { headers: { 'WWW-Authenticate': 'Bearer realm="workers"' } })
  if (claims.jobId !== asked.jobId.toLowerCase()) throw accessDenied()
  const job = await jobs.find(db, claims.jobId)
  if (!job) throw notFound('job')
  if (job.status !== 'running') throw problem('bad-request', `The job no longer accepts outputs; it is ${job.status}`)
  if (!isMediaType(asked.contentType)) throw invalidField('content_type', "must be a media type, such as 'image/tiff'")
  const { bucketName } = await projects.requireReader(db, { ...SERVICE, organizationId: job.organizationId }, job.projectId)
  const at = workerObject(bucketName!, job.id, asked.name)
  const maxBytes = job.reservedBytes + (await storageAccounts.freeBytes(db, job.organizationId))
  const url = await storage.signPut({ ...at, contentType: asked.contentType, maxBytes, expiresInSeconds: PUT_SECONDS })
  return { url, method: 'PUT', content_type: asked.contentType, expires_in_seconds: PUT_SECONDS }
}
