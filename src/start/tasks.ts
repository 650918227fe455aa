import type { Logger } from 'pino'
import { startWorkers } from '#background/tasks.ts'
import type { AnyTask } from '#task.ts'
import { startCommitLoops, type LoopParts } from './commit-loops.ts'

/** Runs tasks from the queue, and the loops that deliver webhooks and evaluate alert rules. */
export async function startTasks(parts: LoopParts, tasks: readonly AnyTask[], log: Logger, started: AsyncDisposableStack): Promise<void> {
  await startWorkers(parts.taskPlatform, tasks)
  const loops = startCommitLoops(parts, (error, what) => log.error({ err: error }, what))
  started.defer(() => loops.close())
}
