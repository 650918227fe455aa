import { Closed } from '#core/shapes.ts'
import { createPartitions } from '#db/partitions.ts'
import * as growth from '#model/platform/growth.ts'
import { task } from '#task.ts'

/** Creates the partitions of the next months, and drops those that are older than the operator keeps them. */
export default task({ name: 'pipeline.partitions', data: Closed({}), schedule: '47 * * * *' }).handle(
  async ({ db, clock, retention, operatorLog }) => {
    const postponed = await createPartitions(db, clock.now())
    if (postponed.length > 0)
      operatorLog.warn(`Partitions could not be created yet, because their tables are in use: ${postponed.join(', ')}`)
    const dropped = await growth.dropOld(db, retention, clock.now())
    if (dropped.length > 0) operatorLog.info(`Dropped what is older than it is kept: ${dropped.join(', ')}`)
  },
)
