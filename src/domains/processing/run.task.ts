import { startHeartbeat, type Heartbeat } from '#core/heartbeat.ts'
import { Problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import * as jobs from '#model/processing/job.ts'
import * as projects from '#model/identity/project.ts'
import { SERVICE } from '#core/principal.ts'
import * as runs from '#model/processing/run.ts'
import { runJobTask } from '#model/processing/tasks.ts'
import { PROCESSES, requireProcess } from '#services/processing/catalogue.ts'
import { failJob } from '#services/processing/end-job.ts'
import { lastReason, reasonOf } from '#services/processing/failure.ts'
import { discardOutputs, registerOutputs, storeOutputs } from '#services/processing/outputs.ts'
import { STORE_FROM, work } from '#services/processing/running.ts'
import { task, type TaskContext } from '#task.ts'

const REGISTER_FROM = 0.98
const LONGEST_JOB_SECONDS = 6 * 3_600

/**
 * Runs a job: computes in child processes, stores the files, then registers items, lineage and payment in one transaction.
 * `resume` restarts a crashed run. An invalid job fails at once; after an internal error, the run is retried.
 */
export default task({
  ...runJobTask,
  produces: ['item:produced_by>processing_job', 'asset:produced_by>processing_job', 'item:derived_from>item'],
  events: ['job.started', 'job.completed', 'job.captured', 'job.failed', 'job.released', 'item.created', 'collection.created'],
  concurrency: 4,
  timeoutSeconds: LONGEST_JOB_SECONDS,
  retryLimit: 0,
}).handle(async (context, { job_id }) => {
  const run = await claimRun(context, job_id)
  if (!run) return
  if (run.attempts > runs.MAX_ATTEMPTS) return await fail(context, run, "The job's workers crashed repeatedly")
  const heartbeat = startHeartbeat({
    signal: context.signal,
    firstStep: 'starting',
    beat: ({ step, fraction }) => runs.heartbeat(context.db, run, { stage: step, progress: fraction * 100 }, context.clock.now()),
  })
  try {
    await complete({ ...context, signal: heartbeat.signal }, run, heartbeat.at)
  } catch (error) {
    if (heartbeat.isReplaced()) return // The job was cancelled, or another run has replaced this one.
    const reason = reasonOf(error) ?? (run.attempts >= runs.MAX_ATTEMPTS ? lastReason(error, run.attempts) : null)
    if (reason === null) {
      await heartbeat.stop()
      await runs.release(context.db, run, context.clock.now())
      throw error
    }
    await fail(context, run, reason)
  } finally {
    await heartbeat.stop()
    await enqueueNext(context)
  }
})

const localTypes = ({ workers }: TaskContext): string[] => PROCESSES.map(({ id }) => id).filter((id) => !workers.handles(id))

/**
 * A task is a free slot for the next job in rotation between organizations, not for the job it names. Only a job whose run
 * crashed is resumed by name.
 */
async function claimRun(context: TaskContext, jobId: string): Promise<runs.Run | null> {
  const { db, clock } = context
  const namedJob = await jobs.find(db, jobId)
  if (namedJob?.status === 'running') return await begin(context, namedJob)
  for (;;) {
    const next = await runs.nextWaiting(db, localTypes(context), 'us', clock.now())
    const run = next && (await begin(context, next))
    if (run || !next) return run
    // Another slot was faster: look for the next job again.
  }
}

/** Enqueues the next job, which may have waited because its organization had used all its slots. */
async function enqueueNext(context: TaskContext): Promise<void> {
  const { db, clock, tasks } = context
  await db.transaction().execute(async (tx) => {
    const next = await runs.nextWaiting(tx, localTypes(context), 'us', clock.now())
    if (next && !(await runs.isQueued(tx, next.id))) await tasks(tx).enqueue(runJobTask, { job_id: next.id })
  })
}

/** Returns null if it is no longer the job's turn, or it has ended or is running. */
async function begin(context: TaskContext, job: jobs.Job): Promise<runs.Run | null> {
  const { change, clock } = context
  return await change(job.organizationId, async ({ tx, lineage, events }) => {
    lineage.nothingProduced()
    await runs.takeSlot(tx)
    if (job.status === 'dispatched' && (await runs.nextWaiting(tx, localTypes(context), 'us', clock.now()))?.id !== job.id) return null
    const started = await runs.begin(tx, job.id, clock.now())
    if (started?.isFirst) events.emit('job.started', job.id, jobs.summary(started.run, 'dispatched'))
    return started?.run ?? null
  })
}

async function fail({ change }: TaskContext, run: runs.Run, reason: string): Promise<void> {
  await change(run.organizationId, async (change: Change) => {
    change.lineage.nothingProduced()
    await failJob(change, run, run.runId, reason)
  })
}

async function complete(context: TaskContext, run: runs.Run, at: Heartbeat['at']): Promise<void> {
  const { db, change } = context
  const { produced, sources, clear } = await work(context, run, at)
  const { title } = requireProcess(run.jobType)
  try {
    const { bucketName } = await projects.requireReader(db, { ...SERVICE, organizationId: run.organizationId }, run.projectId)
    const stored = await storeOutputs(context, bucketName!, produced.items, (stage, fraction) =>
      at(stage, STORE_FROM + (REGISTER_FROM - STORE_FROM) * fraction),
    )
    at('registering', REGISTER_FROM)
    const completed = await change(run.organizationId, async (change) => {
      const registered = await registerOutputs(change, run, stored, { title, summary: produced.summary, sources })
      if (!registered) change.lineage.nothingProduced()
      return registered
    }).catch(async (error: unknown) => {
      // A connection that breaks may have committed before: then the files have owners, and the sweep removes them if not.
      if (error instanceof Problem) await discardOutputs(context, stored)
      throw error
    })
    if (!completed) await discardOutputs(context, stored)
  } finally {
    await clear()
  }
}
