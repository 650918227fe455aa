/**
 * Creates a job, in the stages of the calling operation: `checkJob` in `check`, `fundJob` in `prepare`, `storeJob` in
 * `execute`. Reservation, quota, lineage and events are part of the transaction that stores it.
 */
import { requireBounded } from '#core/bounded.ts'
import { newId } from '#core/ids.ts'
import { accessDenied, invalidField, problem } from '#core/problem.ts'
import * as collections from '#model/imagery/collection.ts'
import * as projects from '#model/identity/project.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as spending from '#model/money/spending.ts'
import * as computeQuotas from '#model/plans/compute-quota.ts'
import * as storageAccounts from '#model/plans/storage-account.ts'
import * as jobs from '#model/processing/job.ts'
import type { PaymentContext } from '#model/money/processor.ts'
import { runJobTask } from '#model/processing/tasks.ts'
import type { Change } from '#effects.ts'
import type { Context, WriteContext } from '#operation.ts'
import { withValidAreas } from './areas.ts'
import { validateParams } from './catalogue.ts'
import { quote } from './price.ts'
import type { AnyProcess } from './process.ts'
import { findSources, openSources } from './sources.ts'

interface JobRequest {
  process: AnyProcess
  projectId: string
  params: unknown
  /** Name of the parameters in the operation's input. */
  field: string
  targetCollectionId?: string | null | undefined
  /** Start of its lineage: the items it works on, or the project it is created in. */
  origin?: 'items' | 'project'
}

type CheckedJob = Awaited<ReturnType<typeof checkJob>>

/** Editors of a project can create jobs if they act for the organization that pays. */
export async function permitJob({ db, principal }: Pick<Context, 'db' | 'principal'>, projectId: string): Promise<projects.Project> {
  const project = await projects.requireRole(db, principal, projectId, 'editor')
  const isPlatform = principal.kind === 'service' && principal.organizationId === null
  if (!isPlatform && requireOrganization(principal) !== project.organizationId) throw accessDenied()
  return project
}

/** Stage 4: rejects everything that is invalid before anything is charged. */
export async function checkJob(
  context: Pick<Context, 'db' | 'principal' | 'raster' | 'vendors' | 'signal'>,
  { process, projectId, params: given, field, targetCollectionId, origin = 'items' }: JobRequest,
) {
  const project = projects.requireActive(await permitJob(context, projectId))
  if (project.bucketName === null) throw problem('bad-request', 'This project has no storage bucket, so a job cannot create items in it')
  const params = await withValidAreas(requireBounded(validateParams(process, given, field), field, MAX_PARAMS_DEPTH))
  if (targetCollectionId) await collections.requireIn(context.db, project.id, targetCollectionId)
  const sources = await findSources(context, process, params, project.organizationId)
  if (origin === 'items' && process.createdBy) throw problem('bad-request', `Create this job with ${process.createdBy}`)
  if (origin === 'items' && sources.every(({ item }) => item === null)) throw invalidField(field, 'must name at least one item')
  const opened = await openSources(context, sources)
  process.check?.(params, opened)
  const price = quote(process, params, opened)
  await storageAccounts.checkFreeBytes(context.db, project.organizationId, price.bytes)
  return {
    process,
    project,
    params,
    sources,
    origin,
    targetCollectionId: targetCollectionId ?? null,
    ...price,
  }
}

/** GeoJSON features are nested more deeply than other parameters. */
const MAX_PARAMS_DEPTH = 12

/** Stage 6a: authorizes the price. */
export async function fundJob(
  context: PaymentContext & Pick<Context, 'principal' | 'idempotencyKey'>,
  { project, credits }: CheckedJob,
  operation: string,
) {
  const spender = spending.spenderOf(context.principal, project.organizationId)
  return await spending.authorize(context, { spender, credits, countsForCaps: false, operation, idempotencyKey: context.idempotencyKey })
}

const WHOLE_DOCUMENT: jobs.RequestedResults = { response: 'document', outputs: null }

/** Stage 6b: stores the job and its reservation and, if it is dispatched at once, enqueues it. */
export async function storeJob(
  context: Change & Pick<WriteContext, 'principal' | 'workers' | 'attributeTo'>,
  { process, project, params, sources, origin, targetCollectionId, credits, areaSqKm, bytes }: CheckedJob,
  funding: Awaited<ReturnType<typeof fundJob>>,
  { dispatch, requested = WHOLE_DOCUMENT }: { dispatch: boolean; requested?: jobs.RequestedResults },
): Promise<jobs.Job> {
  const { tx, clock, principal, lineage, events, attributeTo } = context
  const { organizationId } = project
  const now = clock.now()
  attributeTo(organizationId)
  await projects.lock(tx, project.id)
  if (targetCollectionId) await collections.lock(tx, project.id, targetCollectionId)
  await computeQuotas.take(tx, organizationId, process.meter ?? 'processing_jobs', now)
  await storageAccounts.reserve(tx, organizationId, bytes)
  const id = newId()
  const sourceItemIds = [...new Set(sources.flatMap(({ item }) => (item ? [item.id] : [])))]
  await spending.reserve(context, funding, {
    reference: jobs.referenceOf({ id }),
    lines: [{ product: process.id, area_km2: areaSqKm, credits }],
    description: process.title,
  })
  const job = await jobs.insert(
    tx,
    {
      id,
      organizationId,
      projectId: project.id,
      jobType: process.id,
      version: process.version,
      inputParams: params as object,
      targetCollectionId,
      sourceItemIds,
      reservedCredits: credits,
      reservedBytes: bytes,
      timeoutSeconds: process.timeoutMinutes * 60,
      requested,
      createdBy: principal.userId,
      apiKeyId: principal.apiKeyId,
      isDispatched: dispatch,
    },
    now,
  )
  if (origin === 'project') lineage.record('processing_job', id, 'created_in', { kind: 'project', id: project.id })
  else for (const itemId of sourceItemIds) lineage.record('processing_job', id, 'used', { kind: 'item', id: itemId }, project.id)
  events.emit('job.created', id, { ...jobs.summary(job), reserved_credits: credits })
  if (dispatch) await queueJob(context, job)
  return job
}

/** A job type with registered external workers waits until one of them claims it. */
export async function queueJob(
  { tasks, workers }: Pick<WriteContext, 'tasks' | 'workers'>,
  job: Pick<jobs.Job, 'id' | 'jobType'>,
): Promise<void> {
  if (!workers.handles(job.jobType)) await tasks.enqueue(runJobTask, { job_id: job.id })
}
