import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Nullable, type Received } from '#core/shapes.ts'
import type { SearchTerms } from '#model/scenes/saved-search.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import { addScenesTask } from '#model/scenes/tasks.ts'
import { operation } from '#operation.ts'
import { areaOf, autoAddOf, dateFromOf, requireTerms } from './terms.lib.ts'
import { EXAMPLE_SEARCH, SavedSearchId, SavedSearchRecord, Terms, toRecord } from './wire.ts'

const Input = Closed({
  saved_search_id: SavedSearchId,
  name: Type.Optional(Nullable(Terms.name)),
  area: Type.Optional(Nullable(Terms.area)),
  source_ids: Type.Optional(Nullable(Terms.source_ids)),
  collections: Type.Optional(Nullable(Terms.collections)),
  max_cloud_cover: Type.Optional(Nullable(Terms.max_cloud_cover)),
  date_from: Type.Optional(Nullable(Terms.date_from)),
  auto_add: Type.Optional(Nullable(Terms.auto_add)),
  active: Type.Optional(Nullable(Terms.active)),
  display: Type.Optional(Nullable(Terms.display)),
})

/**
 * Changes a saved search, or pauses and resumes it. Null clears an optional field and leaves a required one unchanged. From then on it
 * runs with the access of the user who changed it.
 */
export default operation({
  id: 'saved_searches.update',
  scope: 'catalog:write',
  tier: 'compute',
  input: Input,
  output: Closed({ saved_search: SavedSearchRecord }, { description: 'The updated search' }),
  example: {
    input: { saved_search_id: EXAMPLE_SEARCH.id, active: false },
    output: { saved_search: { ...EXAMPLE_SEARCH, active: false, next_run_at: null } },
  },
}).handle({
  async check(context, input) {
    const { search, project } = await savedSearches.requireEditor(context.db, context.principal, input.saved_search_id)
    const change = changeOf(input, context.clock.now())
    if (Object.keys(change).length === 0) throw problem('bad-request', 'Nothing to change; send at least one field')
    await requireTerms(context, project.id, { ...search, ...change })
    return { search, project, change }
  },
  async execute({ tx, principal, clock, tasks, attributeTo }, _input, { search, project, change }) {
    attributeTo(project.organizationId)
    const startsAnew = ['area', 'sourceIds', 'collections', 'maxCloudCover', 'dateFrom'].some((field) => field in change)
    const updated = await savedSearches.update(tx, search.id, change, { userId: principal.userId, startsAnew, now: clock.now() })
    if (updated.autoAdd && updated.isActive) await tasks.enqueue(addScenesTask, { saved_search_id: search.id })
    const added = await savedSearches.addedCounts(tx, [search.id])
    return { saved_search: toRecord(updated, added.get(search.id) ?? 0) }
  },
})

function changeOf(input: Received<typeof Input>, now: Date): Partial<SearchTerms> {
  return {
    ...(input.name == null ? {} : { name: input.name.trim() }),
    ...(input.area == null ? {} : { area: areaOf(input.area) }),
    ...(input.source_ids === undefined ? {} : { sourceIds: input.source_ids }),
    ...(input.collections === undefined ? {} : { collections: input.collections }),
    ...(input.max_cloud_cover === undefined ? {} : { maxCloudCover: input.max_cloud_cover }),
    ...(input.date_from == null ? {} : { dateFrom: dateFromOf(input.date_from, now) }),
    ...(input.auto_add === undefined ? {} : { autoAdd: autoAddOf(input.auto_add) }),
    ...(input.active == null ? {} : { isActive: input.active }),
    ...(input.display === undefined ? {} : { display: input.display }),
  }
}
