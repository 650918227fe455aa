import { Closed } from '#core/shapes.ts'
import { MINUTE_MS } from '#core/time.ts'
import * as orders from '#model/orders/order.ts'
import { pollTask } from '#model/orders/tasks.ts'
import { task } from '#task.ts'

const LIMIT = 500

/** Enqueues overdue polls, which a crashed process left behind. */
export default task({ name: 'orders.sweep', data: Closed({}), schedule: '* * * * *' }).handle(async ({ db, clock, tasks }) => {
  const overdue = await orders.overdue(db, new Date(clock.now().getTime() - MINUTE_MS), LIMIT)
  await db.transaction().execute(async (tx) => {
    for (const order_id of overdue) await tasks(tx).enqueue(pollTask, { order_id })
  })
})
