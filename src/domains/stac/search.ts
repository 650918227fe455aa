import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { itemsRelated } from '#model/imagery/item-relate.ts'
import { requireKnownProperties, toSql } from '#model/imagery/cql2-sql.ts'
import { operation } from '#operation.ts'
import { find, parseSearch } from './search.lib.ts'
import { EXAMPLE_FOUND, FoundFeatures, SearchInput } from './search.wire.ts'

/** Searches the organization's items with STAC. Features are lightweight unless `format` requests complete items. */
export default operation({
  id: 'stac.search',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  mediaType: 'application/geo+json',
  input: SearchInput,
  output: FoundFeatures,
  example: {
    input: {
      bbox: [146, -19, 147, -18],
      datetime: '2026-02-01T00:00:00Z/2026-02-28T23:59:59Z',
      filter: { op: '<', args: [{ property: 'eo:cloud_cover' }, 10] },
      sortby: [{ field: 'datetime', direction: 'desc' }],
    },
    output: EXAMPLE_FOUND,
  },
}).handle({
  async check({ db, searchMemory, principal }, input) {
    const organizationId = requireOrganization(principal)
    const search = parseSearch(input)
    // STAC API clients can filter by properties that no item of the organization has; those count as null.
    if (search.filter && input.format !== 'stac') await requireKnownProperties(db, searchMemory, organizationId, search.filter)
    const query = search.filter
      ? [toSql(search.filter, await itemsRelated(db, organizationId, search.filter)), ...search.query]
      : search.query
    return { ...search, query, organizationId, hiddenProjectIds: await projects.hiddenFrom(db, principal) }
  },
  async execute(context, input, search) {
    return await find(context, input, search)
  },
})
