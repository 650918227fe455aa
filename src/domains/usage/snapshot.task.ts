import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as usage from '#model/plans/usage.ts'

/** Records every organization's storage each hour; the maximum of a day is that day's storage. */
export default task({ name: 'usage.snapshot', data: Closed({}), schedule: '3 * * * *' }).handle(async ({ db, clock }) => {
  await usage.snapshotStorage(db, clock.now())
})
