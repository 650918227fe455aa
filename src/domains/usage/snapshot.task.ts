import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as usage from '#model/plans/usage.ts'

/** Notes how much every organization stores; the most that a day saw is that day's storage. */
export default task({ name: 'usage.snapshot', data: Closed({}), schedule: '3 * * * *' }).handle(async ({ db, clock }) => {
  await usage.snapshotStorage(db, clock.now())
})
