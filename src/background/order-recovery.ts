/** Continues orders that a killed process has left behind, within seconds; `orders.sweep` finds the same once a minute, however busy. */
import type { Clock } from '#core/clock.ts'
import { isBehind } from '#db/queue.ts'
import type { Db, Tx } from '#db/tables.ts'
import type { Tasks } from '#effects.ts'
import { SILENT_MS } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import { deliverTask, placeAtVendorTask, pollTask } from '#model/orders/tasks.ts'

/** Queues are polled every second, so a poll that is this late was lost with the process that had it. */
const OVERDUE_MS = 5_000

interface RecoveryParts {
  readonly db: Db
  readonly clock: Clock
  readonly tasks: (tx: Tx) => Tasks
  readonly committed: () => Promise<void>
}

export function createOrderRecovery({ db, clock, tasks, committed }: RecoveryParts): { step(): Promise<boolean> } {
  const names = [pollTask.name, placeAtVendorTask.name, deliverTask.name]
  return {
    async step() {
      // Tasks that merely wait are not lost, and more of them would only make the queue longer.
      if (await isBehind(db, names, OVERDUE_MS / 1_000)) return false
      const now = clock.now()
      const before = (ms: number) => new Date(now.getTime() - ms)
      const found = await db.transaction().execute(async (tx) => {
        const ids = await orders.takeAbandoned(tx, { overdueSince: before(OVERDUE_MS), silentSince: before(SILENT_MS), now })
        for (const order_id of ids) await tasks(tx).enqueue(pollTask, { order_id })
        return ids
      })
      if (found.length > 0) await committed()
      return false
    },
  }
}
