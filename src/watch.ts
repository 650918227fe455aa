/** What a worker looks after when something was committed, and every now and then: webhooks, alert rules, queues of tasks. */
import type { Bell } from './background/bell.ts'
import { startLoop, type Loop } from './background/loop.ts'
import type { TaskPlatform } from './background/tasks.ts'
import { createAnswerer } from './services/alerts/answerer.ts'
import { createDeliverer } from './services/webhooks/deliverer.ts'

/** What comes due is found this much later at most; what is new rings. */
const REST_MS = 500
const GAP_MS = 5
/** Tasks are no hurry: one look into the queues for all that was committed meanwhile. */
const TASK_REST_MS = 1_000
const TASK_GAP_MS = 50

interface Watched {
  taskPlatform: TaskPlatform
  bell: Bell
}

export function startWatch({ taskPlatform, bell }: Watched, onError: (error: unknown, what: string) => void): { close(): Promise<void> } {
  const deliverer = createDeliverer({ ...taskPlatform, onError: (error) => onError(error, 'webhooks'), onRoom: () => loops[0]?.ring() })
  const answerer = createAnswerer({ ...taskPlatform, onError: (error) => onError(error, 'alerts'), onRoom: () => loops[1]?.ring() })
  const loops: Loop[] = [
    startLoop({ step: deliverer.step, restMs: REST_MS, gapMs: GAP_MS, onError: (error) => onError(error, 'webhooks') }),
    startLoop({
      step: answerer.step,
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
  const deaf = bell.hear(() => loops.forEach((loop) => loop.ring()))
  return {
    async close() {
      deaf()
      await Promise.all(loops.map((loop) => loop.close()))
      await deliverer.close()
      await answerer.close()
    },
  }
}
