import { Closed } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { searchItems, readSearch } from './search.lib.ts'
import { EXAMPLE_SEARCH_RESULT, ItemSearchResult, searchFields } from './search.wire.ts'

/** The same search over all projects of the organization that the caller can read. */
export default operation({
  id: 'items.search_org',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed(searchFields),
  output: ItemSearchResult,
  example: {
    input: { bbox: [146, -19, 147, -18], sortby: [{ field: 'cloud_cover', direction: 'asc' }], limit: 10 },
    output: EXAMPLE_SEARCH_RESULT,
  },
}).handle({
  async check({ db, principal }, fields) {
    const organizationId = requireOrganization(principal)
    return { ...readSearch(fields), organizationId, projectId: null, hiddenProjectIds: await projects.hiddenFrom(db, principal) }
  },
  async execute(context, _input, search) {
    return await searchItems(context, search)
  },
})
