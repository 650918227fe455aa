/** Loops of a worker, after every commit or at intervals: webhook deliveries, alert rules, task queues, orders of a dead process. */
import type { CommitNotifier } from '#background/commit-notifier.ts'
import { startLoop, type Loop } from '#background/loop.ts'
import { createOrderRecovery } from '#background/order-recovery.ts'
import { enqueuer, type TaskPlatform } from '#background/tasks.ts'
import { createEvaluator } from '#services/alerts/evaluator.ts'
import { createDeliverer } from '#services/webhooks/deliverer.ts'

/** Maximum delay of work that becomes due; new work wakes the loop. */
const REST_MS = 500
const GAP_MS = 5
/** Tasks are less urgent: the queues are polled once for everything that was committed meanwhile. */
const TASK_REST_MS = 1_000
const TASK_GAP_MS = 50
/** Orders of a process that died continue after this time and the one after which its runs count as dead. */
const RECOVERY_REST_MS = 3_000

export interface LoopParts {
  taskPlatform: TaskPlatform
  commitNotifier: CommitNotifier
}

export function startCommitLoops(
  { taskPlatform, commitNotifier }: LoopParts,
  onError: (error: unknown, what: string) => void,
): { close(): Promise<void> } {
  const parts = { ...taskPlatform.services, db: taskPlatform.db }
  const deliverer = createDeliverer({ ...parts, onError: (error) => onError(error, 'webhooks'), onCapacity: () => loops[0]?.wake() })
  const evaluator = createEvaluator({ ...parts, onError: (error) => onError(error, 'alerts'), onCapacity: () => loops[1]?.wake() })
  const loops: Loop[] = [
    startLoop({ step: deliverer.step, restMs: REST_MS, gapMs: GAP_MS, onError: (error) => onError(error, 'webhooks') }),
    startLoop({
      step: evaluator.step,
      restMs: REST_MS,
      gapMs: GAP_MS,
      onError: (error) => onError(error, 'alerts'),
    }),
    startLoop({
      step: async () => {
        await taskPlatform.queue.wake()
        return false
      },
      restMs: TASK_REST_MS,
      gapMs: TASK_GAP_MS,
      onError: (error) => onError(error, 'tasks'),
    }),
  ]
  const recovery = createOrderRecovery({ ...parts, tasks: enqueuer(taskPlatform.queue), committed: taskPlatform.committed })
  const recovering = startLoop({
    step: recovery.step,
    restMs: RECOVERY_REST_MS,
    gapMs: 0,
    onError: (error) => onError(error, 'recovery of orders'),
  })
  const unsubscribe = commitNotifier.subscribe(() => loops.forEach((loop) => loop.wake()))
  return {
    async close() {
      unsubscribe()
      await Promise.all([...loops, recovering].map((loop) => loop.close()))
      await deliverer.close()
      await evaluator.close()
    },
  }
}
