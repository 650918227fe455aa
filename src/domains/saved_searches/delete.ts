import { Closed, Removed } from '#core/shapes.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_SEARCH, SavedSearchId } from './wire.ts'

/** Deletes a saved search. The scenes that it added stay. */
export default operation({
  id: 'saved_searches.delete',
  scope: 'catalog:write',
  tier: 'destructive',
  input: Closed({ saved_search_id: SavedSearchId }),
  output: Removed,
  example: { input: { saved_search_id: EXAMPLE_SEARCH.id }, output: { ok: true, id: EXAMPLE_SEARCH.id } },
}).handle({
  async check({ db, principal }, { saved_search_id }) {
    return await savedSearches.requireEditor(db, principal, saved_search_id)
  },
  async execute({ tx, attributeTo }, _input, { search }) {
    attributeTo(search.organizationId)
    await savedSearches.remove(tx, search)
    return { ok: true as const, id: search.id }
  },
})
