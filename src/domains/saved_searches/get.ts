import { Closed } from '#core/shapes.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_SEARCH, SavedSearchId, SavedSearchRecord, toRecord } from './wire.ts'

/** One saved search, with the progress of its background runs. */
export default operation({
  id: 'saved_searches.get',
  scope: 'catalog:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ saved_search_id: SavedSearchId }),
  output: Closed({ saved_search: SavedSearchRecord }, { description: 'The saved search' }),
  example: { input: { saved_search_id: EXAMPLE_SEARCH.id }, output: { saved_search: EXAMPLE_SEARCH } },
}).handle({
  async execute({ db, principal }, { saved_search_id }) {
    const search = await savedSearches.requireReader(db, principal, saved_search_id)
    const added = await savedSearches.addedCounts(db, [search.id])
    return { saved_search: toRecord(search, added.get(search.id) ?? 0) }
  },
})
