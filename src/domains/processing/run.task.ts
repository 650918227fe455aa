import { startHeartbeat, type Heartbeat } from '#core/heartbeat.ts'
import { Problem } from '#core/problem.ts'
import type { Change } from '#effects.ts'
import * as jobs from '#model/processing/job.ts'
import * as projects from '#model/identity/project.ts'
import { SERVICE } from '#core/principal.ts'
import * as runs from '#model/processing/run.ts'
import { runJobTask } from '#model/processing/tasks.ts'
import { RasterError } from '#raster/errors.ts'
import { refusalOf } from '#raster/ingest/refusal.ts'
import { PROCESSES, requireProcess } from '#services/processing/catalogue.ts'
import { failJob } from '#services/processing/ending.ts'
import { discardOutputs, registerOutputs, storeOutputs } from '#services/processing/outputs.ts'
import { STORE_FROM, work } from '#services/processing/running.ts'
import { task, type TaskContext } from '#task.ts'

const REGISTER_FROM = 0.98
const LONGEST_JOB_SECONDS = 6 * 3_600

/**
 * Works on a job: its pixels in child processes, its files into the store, its items, lineage and money in one transaction.
 * A run that dies is taken up again by `resume`; what cannot work fails at once, and what keeps failing fails in the end.
 */
export default task({
  ...runJobTask,
  produces: ['item:produced_by>processing_job', 'asset:produced_by>processing_job', 'item:derived_from>item'],
  events: ['job.started', 'job.completed', 'job.captured', 'job.failed', 'job.released', 'item.created', 'collection.created'],
  concurrency: 4,
  timeoutSeconds: LONGEST_JOB_SECONDS,
  retryLimit: 0,
}).handle(async (context, { job_id }) => {
  const run = await takeUp(context, job_id)
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
    if (heartbeat.isReplaced()) return // It was cancelled, or another run has it: nothing went wrong here.
    const reason = reasonOf(error) ?? (run.attempts >= runs.MAX_ATTEMPTS ? `Internal error in ${run.attempts} attempts` : null)
    if (reason === null) {
      await runs.release(context.db, run, context.clock.now())
      throw error
    }
    await fail(context, run, reason)
  } finally {
    heartbeat.stop()
    await passOn(context)
  }
})

const ours = ({ workers }: TaskContext): string[] => PROCESSES.map(({ id }) => id).filter((id) => !workers.serve(id))

/**
 * A task is a place at a machine, not a claim to it: whoever's turn it is has it. The job that the task names is taken up where its
 * run died.
 */
async function takeUp(context: TaskContext, jobId: string): Promise<runs.Run | null> {
  const { db, clock } = context
  const named = await jobs.find(db, jobId)
  if (named?.status === 'running') return await begin(context, named)
  for (;;) {
    const found = await runs.nextWaiting(db, ours(context), 'us', clock.now())
    const run = found && (await begin(context, found))
    if (run || !found) return run
    // Another place was faster: whose turn it is now is asked again.
  }
}

/** The place is free again: what waited because its organization had all of its own may begin. */
async function passOn(context: TaskContext): Promise<void> {
  const { db, clock, tasks } = context
  await db.transaction().execute(async (tx) => {
    const next = await runs.nextWaiting(tx, ours(context), 'us', clock.now())
    if (next && !(await runs.isQueued(tx, next.id))) await tasks(tx).enqueue(runJobTask, { job_id: next.id })
  })
}

/** What is wrong with the job, as opposed to what went wrong here. A child that died may have been killed: that is tried again. */
function reasonOf(error: unknown): string | null {
  if (error instanceof RasterError && error.code === 'worker_failed') return null
  return error instanceof Problem ? error.message : refusalOf(error)
}

/** Null: it is no longer its turn, has ended, or somebody works on it. */
async function begin(context: TaskContext, found: jobs.Job): Promise<runs.Run | null> {
  const { change, clock } = context
  return await change(found.organizationId, async ({ tx, lineage, events }) => {
    lineage.nothingProduced()
    await runs.takeSlot(tx)
    if (found.status === 'dispatched' && (await runs.nextWaiting(tx, ours(context), 'us', clock.now()))?.id !== found.id) return null
    const begun = await runs.begin(tx, found.id, clock.now())
    if (begun?.isFirst) events.emit('job.started', found.id, jobs.summary(begun.run, 'dispatched'))
    return begun?.run ?? null
  })
}

async function fail({ change }: TaskContext, run: runs.Run, reason: string): Promise<void> {
  await change(run.organizationId, async (made: Change) => {
    made.lineage.nothingProduced()
    await failJob(made, run, run.runId, reason)
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
    const completed = await change(run.organizationId, async (made) => {
      const done = await registerOutputs(made, run, stored, { title, summary: produced.summary, sources })
      if (!done) made.lineage.nothingProduced()
      return done
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
