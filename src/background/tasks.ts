import { newId } from '#core/ids.ts'
import type { Services } from '#context.ts'
import type { Queue } from '#db/queue.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Tasks } from '#effects.ts'
import * as traceLinks from '#model/platform/trace-link.ts'
import { tracedFrom } from '#core/tracing.ts'
import { validatorOf } from '#core/validate.ts'
import type { AnyTask } from '#task.ts'
import { changer } from './change.ts'

const STANDARD_RETRY_LIMIT = 5
const STANDARD_TIMEOUT_SECONDS = 300

/** What running tasks needs. Built once, in start/compose.ts. */
export interface TaskPlatform {
  /** What tasks receive; the context of a run is made from it. */
  readonly services: Services
  readonly db: Db
  readonly baseUrl: () => string
  readonly queue: Queue
  readonly committed: (organizationId?: string) => Promise<void>
  readonly onFault: (error: unknown, task: string) => void
}

export function enqueuer(queue: Queue): (tx: Tx) => Tasks {
  return (tx) => ({
    async enqueue(task, data, options) {
      if (!validatorOf(task.data).Check(data)) throw new Error(`${task.name} was queued with data that breaks its schema`)
      const id = await queue.send(tx, task.name, data as object, options)
      if (id) await traceLinks.write(tx, [id])
    },
  })
}

export async function declareTasks(queue: Queue, tasks: readonly AnyTask[]): Promise<void> {
  for (const task of tasks)
    await queue.declare(task.name, {
      retryLimit: task.retryLimit ?? STANDARD_RETRY_LIMIT,
      timeoutSeconds: task.timeoutSeconds ?? STANDARD_TIMEOUT_SECONDS,
    })
}

export async function startWorkers(platform: TaskPlatform, tasks: readonly AnyTask[]): Promise<void> {
  for (const task of tasks) {
    await platform.queue.work(
      task.name,
      (data, signal, id) => runTask(platform, task, data, signal, id),
      task.concurrency ? { concurrency: task.concurrency } : {},
    )
    if (task.schedule) await platform.queue.schedule(task.name, task.schedule)
  }
}

/** `id` is that of the queued task, whose trace the run continues. A scheduled run begins a trace. */
export async function runTask(platform: TaskPlatform, task: AnyTask, data: unknown, signal: AbortSignal, id?: string): Promise<void> {
  const invocationId = newId()
  const attributes = () => ({ 'groundtrack.task': task.name, 'groundtrack.invocation_id': invocationId })
  const parent = id === undefined ? null : await traceLinks.find(platform.db, id)
  const run = () => runUntraced(platform, task, data, { signal, invocationId })
  await tracedFrom(parent, `task ${task.name}`, run, () => ({ kind: 'consumer', attributes: attributes() }))
}

async function runUntraced(
  platform: TaskPlatform,
  task: AnyTask,
  data: unknown,
  { signal, invocationId }: { signal: AbortSignal; invocationId: string },
): Promise<void> {
  const { services, db, queue, committed, onFault } = platform
  try {
    if (!validatorOf(task.data).Check(data)) throw new Error(`${task.name} got data that breaks its schema`)
    const tasks = enqueuer(queue)
    const change = changer({ db, clock: services.clock, tasks, committed }, task)
    await task.run({ ...services, db, baseUrl: platform.baseUrl(), invocationId, tasks, change, signal }, data)
  } catch (error) {
    onFault(error, task.name)
    throw error
  } finally {
    await committed() // A task can also write through `db`.
  }
}
