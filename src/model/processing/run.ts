/** Work on jobs: taken up, kept alive, ended; and what is found when whoever had it has died. */
import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { DAY_MS } from '#core/time.ts'
import { queued } from '#db/queue.ts'
import type { Db, Tx } from '#db/tables.ts'
import { COLUMNS, type Job } from './job.ts'
import { runJobTask } from './tasks.ts'

/** A run of ours that has given no sign of life for so long is taken to be dead. */
const SILENT_MS = 60_000
/** Faults of ours or of the store, not of the job: after so many it is given up. */
export const MAX_ATTEMPTS = 4
/** A job that nobody dispatches gives its reservation back after so long. */
const UNDISPATCHED_MS = 7 * DAY_MS
/** One that nobody begins fails after so long. */
const UNBEGUN_MS = DAY_MS
/** So many forgotten or overdue jobs in one round. */
const ROUND = 500

/** A job, and who works on it now. */
export type Run = Job & { runId: string }

/** Jobs of one organization that run at the same time on machines of ours: half of the slots of one. */
export const MAX_RUNNING_PER_ORGANIZATION = 2

/** One at a time finds out whose turn it is; held until the transaction ends. */
export async function takeSlot(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('processing turns', 0))`.execute(tx)
}

/**
 * Whose turn it is: of the organizations that have a job waiting, the one with the fewest running; among those, the one whose last
 * job began longest ago; its oldest job. Null: none waits that may begin. What workers from outside run counts for them alone.
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

/** Takes a job on, or takes it up again where whoever had it is silent. Null: it has ended, or somebody works on it. */
export async function begin(tx: Tx, id: string, now: Date): Promise<{ run: Run; isFirst: boolean } | null> {
  const silent = new Date(now.getTime() - SILENT_MS)
  const row = await tx
    .updateTable('processing_job')
    .set({ ...begun(now), worker: null })
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

/** Gives a waiting job to a worker from outside. Null: another one has it. */
export async function claim(tx: Tx, worker: string, id: string, now: Date): Promise<Run | null> {
  const row = await tx
    .updateTable('processing_job')
    .set({ ...begun(now), worker })
    .where('id', '=', id)
    .where('status', '=', 'dispatched')
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ? asRun(row) : null
}

const begun = (now: Date) => ({
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

/** Notes how far a run is, and that it lives. False: the job is no longer this run's. */
export async function beat(
  db: Db,
  run: { id: string; runId: string },
  at: { stage: string; progress: number },
  now: Date,
): Promise<boolean> {
  const done = await db
    .updateTable('processing_job')
    .set({ stage: at.stage, progress: Math.min(100, Math.max(0, at.progress)), heartbeat_at: now, updated_at: now })
    .where('id', '=', run.id)
    .where('run_id', '=', run.runId)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** Lets go of a job, so that the next attempt need not wait for the silence. */
export async function free(db: Db, run: { id: string; runId: string }, now: Date): Promise<void> {
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

/** Null: the job has ended, or another run has it, and this one's work is for nothing. */
export async function complete(tx: Tx, run: { id: string; runId: string }, made: Completed, now: Date): Promise<Job | null> {
  const row = await tx
    .updateTable('processing_job')
    .set({
      status: 'completed',
      captured_credits: made.capturedCredits,
      output_item_ids: [...made.outputItemIds],
      output_artifacts: JSON.stringify(made.outputArtifacts),
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

/** Ends a job that is not to be. `runId` where a run ends its own; null for whoever finds that time is over. */
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
 * Jobs of ours whose run died, and such as wait although nothing waits in the queue for them: whoever took the task from
 * there died before it began. Each is named once in that time.
 */
export async function forgotten(tx: Tx, ours: readonly string[], now: Date): Promise<string[]> {
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
        .limit(ROUND)
        .forUpdate()
        .skipLocked(),
    )
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

/** Whether a task for it waits in the queue. */
export async function isQueued(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select ${queued(runJobTask.name, 'job_id', sql`${id}`)} as found`.execute(tx)
  return rows[0]!.found
}

/**
 * Jobs whose time is over: running ones of which nothing was heard for as long as their type may take, waiting ones that
 * nobody began in a day, and pending ones that nobody dispatched in a week.
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
    .limit(ROUND)
    .execute()
}
