import * as savedSearches from '#model/scenes/saved-search.ts'
import { addScenesTask } from '#model/scenes/tasks.ts'
import { addScenes } from '#services/scenes/add-scenes.ts'
import { task } from '#task.ts'

/** Adds or reports the new scenes of one saved search. A run that fails is repeated when its lease ends. */
export default task({
  ...addScenesTask,
  produces: ['item:created_in>project', 'processing_job:created_in>project'],
  events: ['item.created', 'saved_search.matched', 'job.created', 'credits.low_balance', 'credits.depleted'],
  concurrency: 2,
  retryLimit: 0,
}).handle(async (context, { saved_search_id }) => {
  const search = await savedSearches.find(context.db, saved_search_id)
  if (search) await addScenes(context, search)
})
