import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as retention from '#model/imagery/retention.ts'

const BATCH_SIZE = 500
/** Per run; the next run continues. */
const MAX_BATCHES = 200

/**
 * Applies the retention of the organizations' plans. Each batch finds the items that are due and moves those of each organization
 * in one transaction, so that a second worker finds it done; a failure in one organization does not stop the others.
 */
export default task({ name: 'items.retain', data: Closed({}), schedule: '*/15 * * * *', events: ['item.updated', 'item.deleted'] }).handle(
  async ({ db, clock, change, signal }) => {
    const failed = new Map<string, unknown>()
    for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch++) {
      const now = clock.now()
      const due = await retention.findDue(db, { now, limit: BATCH_SIZE, without: [...failed.keys()] })
      if (due.size === 0) break
      for (const [organizationId, seqs] of due) {
        await change(organizationId, async ({ tx, invocationId }) => {
          await retention.report(tx, await retention.advance(tx, seqs, now), invocationId, now)
        }).catch((error: unknown) => failed.set(organizationId, error))
      }
    }
    if (failed.size > 0) throw new AggregateError(failed.values(), `retention failed for ${[...failed.keys()].join(', ')}`)
  },
)
