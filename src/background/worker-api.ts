/** How workers from outside get jobs, and addresses to put what they made. All else they say goes through `processing.job.register`. */
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
import { failJob } from '#services/processing/ending.ts'
import type { Source } from '#services/processing/process.ts'
import { findSources } from '#services/processing/sources.ts'
import { PUT_SECONDS, workerObject } from '#services/processing/worker-files.ts'
import { toJob } from '#wire/job.ts'

const LOOK_EVERY_MS = 500
/** As long as its token lives: a worker may still report shortly after its time ran out. */
const GRACE_SECONDS = 600

interface Claim {
  secret: string
  /** Of those that the worker is registered for; all of them by default. */
  jobTypes: readonly string[] | null
  waitSeconds: number
  signal: AbortSignal
}

/** The oldest job that waits for such a worker; null where there is none in time. */
export async function claimJob(platform: Platform, tokens: Tokens, { secret, jobTypes, waitSeconds, signal }: Claim) {
  const worker = platform.services.workers.identify(secret)
  if (!worker)
    throw problem('unauthorized', 'This is not the secret of a registered worker', {
      headers: { 'WWW-Authenticate': 'Bearer realm="workers"' },
    })
  const wanted = jobTypes ?? worker.jobTypes
  const strange = wanted.find((type) => !worker.jobTypes.includes(type))
  if (strange !== undefined) throw problem('forbidden', `This worker is not registered for '${strange}'`)
  const until = performance.now() + waitSeconds * 1_000
  for (;;) {
    const claimed = await takeOne(platform, worker.name, wanted)
    if (claimed) {
      const answer = await handOver(platform, tokens, claimed)
      if (answer) return answer
      continue // It could not be handed over, and has failed: the next one.
    }
    if (signal.aborted || performance.now() >= until) return null
    await sleep(LOOK_EVERY_MS)
  }
}

/** Takes a job and says that it has begun, in one transaction. */
async function takeOne(
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

async function handOver(platform: Platform, tokens: Tokens, run: runs.Run) {
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

async function inputsOf({ db, services: { raster, storage } }: Platform, run: runs.Run) {
  const process = requireProcess(run.jobType)
  const means = { db, raster, principal: { ...SERVICE, organizationId: run.organizationId }, signal: new AbortController().signal }
  const sources = await findSources(means, process, run.inputParams, run.organizationId)
  const expiresInSeconds = run.timeoutSeconds + GRACE_SECONDS
  const addressOf = async ({ source }: Source): Promise<string> =>
    'object' in source ? await storage.signGet({ ...source.object, expiresInSeconds }) : 'url' in source ? source.url : source.path
  return await Promise.all(
    sources.map(async (source) => ({ item_id: source.item?.id ?? null, asset_key: source.key, url: await addressOf(source) })),
  )
}

/** A short-lived address to PUT one output to, for whoever holds the token of the job. */
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
    throw problem('unauthorized', 'Send the token that came with the job', { headers: { 'WWW-Authenticate': 'Bearer realm="workers"' } })
  if (claims.jobId !== asked.jobId.toLowerCase()) throw accessDenied()
  const found = await jobs.find(db, claims.jobId)
  if (!found) throw notFound('job')
  if (found.status !== 'running') throw problem('bad-request', `Nothing more is taken for this job; it is ${found.status}`)
  if (!isMediaType(asked.contentType)) throw invalidField('content_type', "must be a media type, such as 'image/tiff'")
  const { bucketName } = await projects.requireReader(db, { ...SERVICE, organizationId: found.organizationId }, found.projectId)
  const at = workerObject(bucketName!, found.id, asked.name)
  const maxBytes = found.reservedBytes + (await storageAccounts.freeBytes(db, found.organizationId))
  const url = await storage.signPut({ ...at, contentType: asked.contentType, maxBytes, expiresInSeconds: PUT_SECONDS })
  return { url, method: 'PUT', content_type: asked.contentType, expires_in_seconds: PUT_SECONDS }
}
