/**
 * How a job comes to be, in the stages of whatever operation makes one: `checkJob` in `check`, `fundJob` in `prepare`,
 * `storeJob` in `execute`. Reservation, quota, lineage and events are in the transaction that stores it.
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
import { runJobTask } from '#model/processing/tasks.ts'
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
  /** What the parameters are called in the operation's input. */
  field: string
  targetCollectionId?: string | null | undefined
  /** What its lineage begins with: the items that it works on, or the project that it is made in. */
  origin?: 'items' | 'project'
}

type CheckedJob = Awaited<ReturnType<typeof checkJob>>

/** Who may: editors of a project of the organization that pays, which is the caller's own. */
export async function permitJob({ db, principal }: Pick<Context, 'db' | 'principal'>, projectId: string): Promise<projects.Project> {
  const found = await projects.requireRole(db, principal, projectId, 'editor')
  const isPlatform = principal.kind === 'service' && principal.organizationId === null
  if (!isPlatform && requireOrganization(principal) !== found.organizationId) throw accessDenied()
  return found
}

/** Stage 4: everything that can be known to be wrong before anything is paid. */
export async function checkJob(
  context: Context,
  { process, projectId, params: given, field, targetCollectionId, origin = 'items' }: JobRequest,
) {
  const found = projects.requireActive(await permitJob(context, projectId))
  if (found.bucketName === null) throw problem('bad-request', 'This project has no storage bucket, so nothing can be made in it')
  const params = await withValidAreas(requireBounded(validateParams(process, given, field), field, MAX_PARAMS_DEPTH))
  if (targetCollectionId) await collections.requireIn(context.db, found.id, targetCollectionId)
  const sources = await findSources(context, process, params, found.organizationId)
  if (origin === 'items' && sources.every(({ item }) => item === null)) throw invalidField(field, 'must name an item to work on')
  const opened = await openSources(context, sources)
  process.check?.(params, opened)
  const price = quote(process, params, opened)
  await storageAccounts.checkFreeBytes(context.db, found.organizationId, price.bytes)
  return {
    process,
    project: found,
    params,
    sources,
    origin,
    targetCollectionId: targetCollectionId ?? null,
    ...price,
  }
}

/** GeoJSON features nest deeper than most. */
const MAX_PARAMS_DEPTH = 12

/** Stage 6a. */
export async function fundJob(context: Context, { project: found, credits }: CheckedJob, operation: string) {
  const spender = spending.spenderOf(context.principal, found.organizationId)
  return await spending.authorize(context, { spender, credits, countsForCaps: false, operation, idempotencyKey: context.idempotencyKey })
}

const WHOLE_DOCUMENT: jobs.RequestedResults = { response: 'document', outputs: null }

/** Stage 6b: the job and its reservation, and its place in the line where it is dispatched at once. */
export async function storeJob(
  context: WriteContext,
  { process, project: found, params, sources, origin, targetCollectionId, credits, areaSqKm, bytes }: CheckedJob,
  funding: Awaited<ReturnType<typeof fundJob>>,
  { dispatch, requested = WHOLE_DOCUMENT }: { dispatch: boolean; requested?: jobs.RequestedResults },
): Promise<jobs.Job> {
  const { tx, clock, principal, lineage, events, attributeTo } = context
  const { organizationId } = found
  const now = clock.now()
  attributeTo(organizationId)
  await projects.lock(tx, found.id)
  if (targetCollectionId) await collections.lock(tx, found.id, targetCollectionId)
  await computeQuotas.take(tx, organizationId, process.meter ?? 'processing_jobs', now)
  await storageAccounts.reserve(tx, organizationId, bytes)
  const id = newId()
  const sourceItemIds = [...new Set(sources.flatMap(({ item }) => (item ? [item.id] : [])))]
  await spending.reserve(context, funding, {
    reference: jobs.referenceOf({ id }),
    lines: [{ product: process.id, area_km2: areaSqKm, credits }],
    description: process.title,
  })
  const made = await jobs.insert(
    tx,
    {
      id,
      organizationId,
      projectId: found.id,
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
  if (origin === 'project') lineage.record('processing_job', id, 'created_in', { kind: 'project', id: found.id })
  else for (const itemId of sourceItemIds) lineage.record('processing_job', id, 'used', { kind: 'item', id: itemId }, found.id)
  events.emit('job.created', id, { ...jobs.summary(made), reserved_credits: credits })
  if (dispatch) await queueJob(context, made)
  return made
}

/** A type that workers from outside are registered for waits until one of them asks for it. */
export async function queueJob(
  { tasks, workers }: Pick<WriteContext, 'tasks' | 'workers'>,
  made: Pick<jobs.Job, 'id' | 'jobType'>,
): Promise<void> {
  if (!workers.serve(made.jobType)) await tasks.enqueue(runJobTask, { job_id: made.id })
}
