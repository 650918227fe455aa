import { Closed } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { find, readSearch } from './search.lib.ts'
import { EXAMPLE_FOUND, FoundItems, searchFields } from './search.wire.ts'

/** The same search over every project of the organization that the caller may read. */
export default operation({
  id: 'items.search_org',
  scope: 'items:read',
  tier: 'read',
  input: Closed(searchFields),
  output: FoundItems,
  example: {
    input: { bbox: [146, -19, 147, -18], sortby: [{ field: 'cloud_cover', direction: 'asc' }], limit: 10 },
    output: EXAMPLE_FOUND,
  },
}).handle({
  async check({ db, principal }, fields) {
    const organizationId = requireOrganization(principal)
    return { ...readSearch(fields), organizationId, projectId: null, hiddenProjectIds: await projects.hiddenFrom(db, principal) }
  },
  async execute(context, _input, search) {
    return await find(context, search)
  },
})
