/** Running jobs: start, heartbeat, end, and recovery when the process or worker has died. */
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { DAY_MS } from '#core/time.ts'
import { queued } from '#db/queue.ts'
import type { Db, Tx } from '#db/tables.ts'
import { COLUMNS, type Job } from './job.ts'
import { runJobTask } from './tasks.ts'

/** A run without a heartbeat for this long is considered dead. */
const SILENT_MS = 60_000
/** Failures of the service or the store, not of the job: after this many attempts the job fails. */
export const MAX_ATTEMPTS = 4
/** A job that is not dispatched within this time is cancelled, and its reservation released. */
const UNDISPATCHED_MS = 7 * DAY_MS
/** A dispatched job that does not start within this time fails. */
const UNBEGUN_MS = DAY_MS
/** Jobs recovered or ended in one pass. */
const BATCH_SIZE = 500

/** A job with the ID of its current run. */
export type Run = Job & { runId: string }

/** Jobs of one organization that run at the same time on the service's own processes: half of one process's slots. */
export const MAX_RUNNING_PER_ORGANIZATION = 2

/** Serializes the choice of the next job until the transaction ends. */
export async function takeSlot(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('processing turns', 0))`.execute(tx)
}

/**
 * The next job to run: among the organizations with waiting jobs, the one with the fewest running; among those, the one whose last
 * job started longest ago; of that, the oldest job. Null if no job can start. Jobs on external workers are counted separately.
 */
export async function nextWaiting(db: Db | Tx, jobTypes: readonly string[], by: 'us' | 'worker', now: Date): Promise<Job | null> {
  const alive = new Date(now.getTime() - SILENT_MS)
  const isCounted = by === 'us' ? sql`r.worker is null and r.heartbeat_at > ${alive}` : sql`r.worker is not null`
  const most = by === 'us' ? MAX_RUNNING_PER_ORGANIZATION : null
  const { rows } = await sql<{ id: string }>`
    with waiting as (
      select org_id, (array_agg(id order by dispatched_at, id))[1] as id, min(dispatched_at) as since from processing_job
      where status = 'dispatched' and job_type = any(${jobTypes}::text[]) group by org_id
    )
    select w.id from waiting w
    cross join lateral (
      select count(*) as running from processing_job r
      where r.org_id = w.org_id and r.completed_at is null and r.status = 'running' and ${isCounted}
    ) busy
    cross join lateral (select max(s.started_at) as at from processing_job s where s.org_id = w.org_id and s.started_at is not null) last
    where ${most}::int is null or busy.running < ${most}::int
    order by busy.running, last.at nulls first, w.since, w.id limit 1
  `.execute(db)
  const [row] = rows
  if (!row) return null
  return (await db.selectFrom('processing_job').select(COLUMNS).where('id', '=', row.id).executeTakeFirst()) ?? null
}

/** Starts a job, or restarts one whose run has died. Returns null if it has ended or is running. */
export async function begin(tx: Tx, id: string, now: Date): Promise<{ run: Run; isFirst: boolean } | null> {
  const silent = new Date(now.getTime() - SILENT_MS)
  const row = await tx
    .updateTable('processing_job')
    .set({ ...started(now), worker: null })
    .where('id', '=', id)
    .where((where) =>
      where.or([
        where('status', '=', 'dispatched'),
        where.and([
          where('status', '=', 'running'),
          where('worker', 'is', null),
          where.or([where('heartbeat_at', 'is', null), where('heartbeat_at', '<=', silent)]),
        ]),
      ]),
    )
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ? { run: asRun(row), isFirst: row.attempts === 1 } : null
}

/** Gives a waiting job to an external worker. Returns null if another worker has it. */
export async function claim(tx: Tx, worker: string, id: string, now: Date): Promise<Run | null> {
  const row = await tx
    .updateTable('processing_job')
    .set({ ...started(now), worker })
    .where('id', '=', id)
    .where('status', '=', 'dispatched')
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ? asRun(row) : null
}

const started = (now: Date) => ({
  status: 'running' as const,
  run_id: newId(),
  attempts: sql<number>`attempts + 1`,
  started_at: sql<Date>`coalesce(started_at, ${now})`,
  heartbeat_at: now,
  updated_at: now,
  progress: 0,
  stage: 'starting',
})

const asRun = (job: Job): Run => ({ ...job, runId: job.runId! })

/** Records a heartbeat with the progress of a run. Returns false if the job belongs to another run or has ended. */
export async function heartbeat(
  db: Db,
  run: { id: string; runId: string },
  at: { stage: string; progress: number },
  now: Date,
): Promise<boolean> {
  const result = await db
    .updateTable('processing_job')
    .set({ stage: at.stage, progress: Math.min(100, Math.max(0, at.progress)), heartbeat_at: now, updated_at: now })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Releases a job, so that the next attempt need not wait until the run is considered dead. */
export async function release(db: Db, run: { id: string; runId: string }, now: Date): Promise<void> {
  await db
    .updateTable('processing_job')
    .set({ heartbeat_at: null, stage: 'waiting', updated_at: now })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('status', '=', 'running')
    .execute()
}

interface Completed {
  capturedCredits: number
  outputItemIds: readonly string[]
  outputArtifacts: object
}

/** Returns null if the job has ended or belongs to another run; this run's work is then discarded. */
export async function complete(tx: Tx, run: { id: string; runId: string }, results: Completed, now: Date): Promise<Job | null> {
  const row = await tx
    .updateTable('processing_job')
    .set({
      status: 'completed',
      captured_credits: results.capturedCredits,
      output_item_ids: [...results.outputItemIds],
      output_artifacts: JSON.stringify(results.outputArtifacts),
      progress: 100,
      stage: 'done',
      heartbeat_at: null,
      completed_at: now,
      updated_at: now,
    })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('status', '=', 'running')
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** Ends a job early. `runId` is set when a run ends its own job, null when a deadline has passed. */
export async function end(
  tx: Tx,
  job: { id: string; runId: string | null },
  to: { status: 'failed'; error: string } | { status: 'cancelled' },
  now: Date,
): Promise<Job | null> {
  const row = await tx
    .updateTable('processing_job')
    .set({ ...to, captured_credits: 0, heartbeat_at: null, completed_at: now, updated_at: now })
    .where('id', '=', job.id)
    .where('completed_at', 'is', null)
    .$if(job.runId !== null, (query) => query.where('run_id', '=', job.runId))
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/**
 * Jobs whose run died, and waiting jobs without a task in the queue because the process that took the task died. Each is returned
 * once per interval.
 */
export async function stalled(tx: Tx, ours: readonly string[], now: Date): Promise<string[]> {
  const since = new Date(now.getTime() - SILENT_MS)
  const isQueued = queued(runJobTask.name, 'job_id', sql`processing_job.id::text`)
  const rows = await tx
    .updateTable('processing_job')
    .set({ updated_at: now })
    .where('id', 'in', (query) =>
      query
        .selectFrom('processing_job')
        .select('id')
        .where('job_type', 'in', [...ours])
        .where('worker', 'is', null)
        .where('updated_at', '<=', since)
        .where((where) => where.or([where('status', '=', 'running'), where.and([where('status', '=', 'dispatched'), where.not(isQueued)])]))
        .limit(BATCH_SIZE)
        .forUpdate()
        .skipLocked(),
    )
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

/** Whether the queue contains a task for the job. */
export async function isQueued(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await sql<{ isQueued: boolean }>`select ${queued(runJobTask.name, 'job_id', sql`${id}`)} as "isQueued"`.execute(tx)
  return rows[0]!.isQueued
}

/**
 * Jobs past their deadline: running ones that took longer than their type allows or whose external worker was silent for that long,
 * dispatched ones that did not start within a day, and pending ones that were not dispatched within a week.
 */
export async function overdue(db: Db, now: Date): Promise<Job[]> {
  const silence = sql<boolean>`heartbeat_at <= ${now}::timestamptz - make_interval(secs => timeout_seconds)`
  const tooLong = sql<boolean>`started_at <= ${now}::timestamptz - make_interval(secs => timeout_seconds)`
  return await db
    .selectFrom('processing_job')
    .select(COLUMNS)
    .where('completed_at', 'is', null)
    .where((where) =>
      where.or([
        where.and([where('status', '=', 'pending'), where('created_at', '<=', new Date(now.getTime() - UNDISPATCHED_MS))]),
        where.and([where('status', '=', 'dispatched'), where('dispatched_at', '<=', new Date(now.getTime() - UNBEGUN_MS))]),
        where.and([where('status', '=', 'running'), where('worker', 'is not', null), silence]),
        where.and([where('status', '=', 'running'), where('worker', 'is', null), tooLong]),
      ]),
    )
    .orderBy('created_at')
    .limit(BATCH_SIZE)
    .execute()
}
