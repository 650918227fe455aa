import type { RasterService } from '#ports/raster.ts'
import type { Storage } from '#ports/storage.ts'
import type { Clock } from '#core/clock.ts'
import { newId } from '#core/ids.ts'
import type { Payments } from '#ports/payments.ts'
import type { Queue } from '#db/queue.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { AnyJob } from '#task.ts'
import * as itemLayer from '#model/imagery/item-layer.ts'
import type { Aside, Jobs, Usage } from '#operation.ts'
import { changer } from './change.ts'
import { validatorOf } from '#pipeline/validate.ts'

const STANDARD_RETRY_LIMIT = 5
const STANDARD_TIMEOUT_SECONDS = 300

export interface JobPlatform {
  db: Db
  clock: Clock
  queue: Queue
  raster: RasterService
  storage: Storage
  payments: Payments | null
  aside: Aside
  usage: Usage
  onFault: (error: unknown, job: string) => void
}

export function enqueuer(queue: Queue): (tx: Tx) => Jobs {
  return (tx) => ({
    async enqueue(job, data) {
      if (!validatorOf(job.data).Check(data)) throw new Error(`${job.name} was queued with data that breaks its schema`)
      await queue.send(tx, job.name, data as object)
    },
    enqueueByName: (name, data) => queue.send(tx, name, data),
  })
}

export async function declareJobs(queue: Queue, jobs: readonly AnyJob[]): Promise<void> {
  for (const job of jobs)
    await queue.declare(job.name, {
      retryLimit: job.retryLimit ?? STANDARD_RETRY_LIMIT,
      timeoutSeconds: job.timeoutSeconds ?? STANDARD_TIMEOUT_SECONDS,
    })
}

export async function startWorkers(platform: JobPlatform, jobs: readonly AnyJob[]): Promise<void> {
  for (const job of jobs) {
    await platform.queue.work(
      job.name,
      (data, signal) => runJob(platform, job, data, signal),
      job.concurrency ? { concurrency: job.concurrency } : {},
    )
    if (job.schedule) await platform.queue.schedule(job.name, job.schedule)
  }
}

export async function runJob(platform: JobPlatform, job: AnyJob, data: unknown, signal: AbortSignal): Promise<void> {
  const { db, clock, queue, raster, storage, usage, payments, aside } = platform
  try {
    if (!validatorOf(job.data).Check(data)) throw new Error(`${job.name} got data that breaks its schema`)
    const jobs = enqueuer(queue)
    await job.run(
      {
        db,
        clock,
        raster,
        storage,
        usage,
        payments,
        aside,
        invocationId: newId(),
        jobs,
        change: changer({ db, clock, jobs }, job),
        signal,
      },
      data,
    )
  } catch (error) {
    platform.onFault(error, job.name)
    throw error
  } finally {
    itemLayer.forget(db)
  }
}
