import Type from 'typebox'
import { Closed, Described, Nullable, Uuid } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as savedSearches from '#model/scenes/saved-search.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_SEARCH, SavedSearchRecord, toRecord } from './wire.ts'

/** The saved searches of a project, or of all projects that the caller can read, newest first. */
export default operation({
  id: 'saved_searches.list',
  scope: 'catalog:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ project_id: Described(Type.Optional(Nullable(Uuid)), 'Only searches of this project') }),
  output: Closed({
    saved_searches: Type.Array(SavedSearchRecord, { description: 'Saved searches' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: { project_id: EXAMPLE_SEARCH.project_id }, output: { saved_searches: [EXAMPLE_SEARCH], count: 1 } },
}).handle({
  async check({ db, principal }, { project_id }) {
    if (project_id != null) return { projectId: (await projects.requireReader(db, principal, project_id)).id }
    return { organizationId: requireOrganization(principal), hiddenProjectIds: await projects.hiddenFrom(db, principal) }
  },
  async execute({ db }, _input, where) {
    const searches = await savedSearches.list(db, where)
    const added = await savedSearches.addedCounts(
      db,
      searches.map(({ id }) => id),
    )
    return { saved_searches: searches.map((search) => toRecord(search, added.get(search.id) ?? 0)), count: searches.length }
  },
})
