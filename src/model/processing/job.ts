/**
 * Processing jobs. The lifecycle: `pending` (created and reserved), `dispatched` (waiting to be run), `running`, then `completed` or
 * `failed`; `cancelled` if it never ran. Every transition is a conditional update: a caller that updates no row was too late and
 * changes nothing else.
 */
import { sql } from 'kysely'
import { isUuid } from '#core/ids.ts'
import type { Interval } from '#core/interval.ts'
import type { Principal } from '#core/principal.ts'
import { notFound } from '#core/problem.ts'
import type { JobResponse, JobStatus } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as projects from '#model/identity/project.ts'

export const COLUMNS = [
  'id',
  'org_id as organizationId',
  'project_id as projectId',
  'job_type as jobType',
  'version',
  'status',
  'input_params as inputParams',
  'target_collection_id as targetCollectionId',
  'source_item_ids as sourceItemIds',
  'reserved_credits as reservedCredits',
  // Storage reserved for its outputs until it ends.
  'reserved_bytes as reservedBytes',
  'captured_credits as capturedCredits',
  'output_item_ids as outputItemIds',
  'output_artifacts as outputArtifacts',
  'error',
  // Percentage of the whole job, and the current step.
  'progress',
  'stage',
  'timeout_seconds as timeoutSeconds',
  // The outputs an OGC API Processes client requested, and their form; null means all of them.
  'response',
  'requested_outputs as requestedOutputs',
  'created_by as createdBy',
  'api_key_id as apiKeyId',
  'run_id as runId',
  // The external worker that runs it; null if the service runs it.
  'worker',
  'attempts',
  'created_at as createdAt',
  'dispatched_at as dispatchedAt',
  'started_at as startedAt',
  'completed_at as completedAt',
] as const

export type Job = Row<'processing_job', typeof COLUMNS>

/** The ledger reference of a job's reservation. */
export const referenceOf = ({ id }: Pick<Job, 'id'>) => ({ type: 'processing_job', id })

/** The requested form of the results. */
export interface RequestedResults {
  response: JobResponse
  outputs: readonly string[] | null
}

interface NewJob {
  id: string
  organizationId: string
  projectId: string
  jobType: string
  version: string
  inputParams: object
  targetCollectionId: string | null
  sourceItemIds: readonly string[]
  reservedCredits: number
  reservedBytes: number
  timeoutSeconds: number
  requested: RequestedResults
  createdBy: string | null
  apiKeyId: string | null
  isDispatched: boolean
}

export async function insert(tx: Tx, job: NewJob, now: Date): Promise<Job> {
  return await tx
    .insertInto('processing_job')
    .values({
      id: job.id,
      org_id: job.organizationId,
      project_id: job.projectId,
      job_type: job.jobType,
      version: job.version,
      status: job.isDispatched ? 'dispatched' : 'pending',
      input_params: JSON.stringify(job.inputParams),
      target_collection_id: job.targetCollectionId,
      source_item_ids: [...job.sourceItemIds],
      reserved_credits: job.reservedCredits,
      reserved_bytes: job.reservedBytes,
      timeout_seconds: job.timeoutSeconds,
      response: job.requested.response,
      requested_outputs: job.requested.outputs && [...job.requested.outputs],
      created_by: job.createdBy,
      api_key_id: job.apiKeyId,
      created_at: now,
      updated_at: now,
      dispatched_at: job.isDispatched ? now : null,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

export async function find(db: Db, id: string): Promise<Job | null> {
  if (!isUuid(id)) return null
  return (await db.selectFrom('processing_job').select(COLUMNS).where('id', '=', id).executeTakeFirst()) ?? null
}

/** For readers of its project, even a deleted one, as in lists: 404 outside the organization, 403 for a private project of others. */
export async function requireReader(db: Db, principal: Principal, id: string): Promise<Job> {
  const job = await find(db, id)
  if (!job) throw notFound('job')
  await projects.unlessHidden('job', () => projects.requireReader(db, principal, job.projectId, { evenDeleted: true }))
  return job
}

/** For editors of its project. */
export async function requireEditor(db: Db, principal: Principal, id: string): Promise<Job> {
  const job = await requireReader(db, principal, id)
  await projects.unlessHidden('job', () => projects.requireRole(db, principal, job.projectId, 'editor'))
  return job
}

/** Locks the row and returns its current state. */
export async function lock(tx: Tx, id: string): Promise<Job> {
  const row = await tx.selectFrom('processing_job').select(COLUMNS).where('id', '=', id).forUpdate().executeTakeFirst()
  if (!row) throw notFound('job')
  return row
}

interface JobFilter {
  organizationId?: string
  projectId?: string
  /** Projects the caller cannot read. */
  hiddenProjectIds?: readonly string[]
  jobTypes?: readonly string[] | undefined
  statuses?: readonly JobStatus[] | undefined
  ids?: readonly string[] | undefined
  created?: Interval | undefined
  /** Seconds from the start of a job to its end, or to now while it runs. */
  duration?: { min: number | null; max: number | null; now: Date } | undefined
  oldestFirst?: boolean
  limit: number
  offset: number
}

export async function list(db: Db, filter: JobFilter): Promise<{ jobs: Job[]; total: number }> {
  const { hiddenProjectIds = [], statuses, ids, created, duration, oldestFirst = false } = filter
  const matching = db
    .selectFrom('processing_job')
    .$if(filter.organizationId !== undefined, (query) => query.where('org_id', '=', filter.organizationId!))
    .$if(filter.projectId !== undefined, (query) => query.where('project_id', '=', filter.projectId!))
    .$if(hiddenProjectIds.length > 0, (query) => query.where(sql<boolean>`project_id <> all(${hiddenProjectIds}::uuid[])`))
    .$if(filter.jobTypes !== undefined, (query) => query.where(sql<boolean>`job_type = any(${filter.jobTypes}::text[])`))
    .$if(statuses !== undefined, (query) => query.where(sql<boolean>`status = any(${statuses}::text[])`))
    .$if(ids !== undefined, (query) => query.where(sql<boolean>`id = any(${ids}::uuid[])`))
    .$if(created?.from != null, (query) => query.where('created_at', '>=', created!.from!))
    .$if(created?.to != null, (query) => query.where('created_at', '<=', created!.to!))
    .$if(duration !== undefined, (query) => query.where(lasted(duration!)))
  const direction = oldestFirst ? 'asc' : 'desc'
  const jobs = await matching
    .select(COLUMNS)
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(filter.limit)
    .offset(filter.offset)
    .execute()
  const { total } = await matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { jobs, total }
}

function lasted({ min, max, now }: NonNullable<JobFilter['duration']>) {
  const seconds = sql`extract(epoch from coalesce(completed_at, ${now}::timestamptz) - started_at)`
  return sql<boolean>`started_at is not null and ${seconds} >= ${min ?? 0}::float8 and ${seconds} <= ${max}::float8 is not false`
}

/** Returns null if it was not pending. */
export async function dispatch(tx: Tx, id: string, now: Date): Promise<Job | null> {
  const row = await tx
    .updateTable('processing_job')
    .set({ status: 'dispatched', dispatched_at: now, updated_at: now })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** Deletes a job; its outputs stay. */
export async function remove(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('processing_job').where('id', '=', id).execute()
}

/** The data of a job's events. */
export function summary(job: Job, previousStatus: JobStatus | null = null) {
  return {
    id: job.id,
    project_id: job.projectId,
    job_type: job.jobType,
    status: job.status,
    previous_status: previousStatus,
    created_at: job.createdAt.toISOString(),
  }
}
