import type { Logger } from 'pino'
import { enqueuer, startWorkers, type TaskPlatform } from '#background/tasks.ts'
import { probeSourcesTask } from '#model/vendors/tasks.ts'
import type { AnyTask } from '#task.ts'
import { startCommitLoops, type LoopParts } from './commit-loops.ts'

/** Runs tasks from the queue, and the loops that deliver webhooks and evaluate alert rules. */
export async function startTasks(parts: LoopParts, tasks: readonly AnyTask[], log: Logger, started: AsyncDisposableStack): Promise<void> {
  await startWorkers(parts.taskPlatform, tasks)
  await probeSources(parts.taskPlatform)
  const loops = startCommitLoops(parts, (error, what) => log.error({ err: error }, what))
  started.defer(() => loops.close())
}

/** In the background, so that the first searches know which hosts respond. */
async function probeSources({ services, db, queue }: TaskPlatform): Promise<void> {
  if (services.vendors.sources.every(({ simulated }) => simulated)) return
  await db.transaction().execute((tx) => enqueuer(queue)(tx).enqueue(probeSourcesTask, { at_start: true }))
}
