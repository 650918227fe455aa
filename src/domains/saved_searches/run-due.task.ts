import { Closed } from '#core/shapes.ts'
import { MINUTE_MS } from '#core/time.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import { addScenesTask } from '#model/scenes/tasks.ts'
import { task } from '#task.ts'

/** Searches that start per minute; the others wait, in rotation between organizations. */
const MAX_STARTED = 20
/** Longer than a run takes. */
const LEASE_MS = 15 * MINUTE_MS

/** Starts the saved searches that are due. */
export default task({ name: 'saved_searches.run_due', data: Closed({}), schedule: '* * * * *', retryLimit: 0 }).handle(
  async ({ db, clock, tasks }) => {
    await db.transaction().execute(async (tx) => {
      for (const id of await savedSearches.claimDue(tx, clock.now(), { limit: MAX_STARTED, leaseMs: LEASE_MS }))
        await tasks(tx).enqueue(addScenesTask, { saved_search_id: id })
    })
  },
)
