import { requireOrganization } from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { itemsRelated } from '#model/imagery/item-relate.ts'
import { requireKnownProperties, toSql } from '#model/imagery/cql2-sql.ts'
import { operation } from '#operation.ts'
import { find, readSearch } from './search.lib.ts'
import { EXAMPLE_FOUND, FoundFeatures, SearchInput } from './search.wire.ts'

/** STAC search over the organization's own items. Features are lightweight unless `format` asks for whole items. */
export default operation({
  id: 'stac.search',
  scope: 'items:read',
  tier: 'read',
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
  async check({ db, principal }, input) {
    const organizationId = requireOrganization(principal)
    const read = readSearch(input)
    // Clients of the STAC API filter by names that this organization may not use: those count as missing there.
    if (read.filter && input.format !== 'stac') await requireKnownProperties(db, organizationId, read.filter)
    const query = read.filter ? [toSql(read.filter, await itemsRelated(db, organizationId, read.filter)), ...read.query] : read.query
    return { ...read, query, organizationId, hiddenProjectIds: await projects.hiddenFrom(db, principal) }
  },
  async execute(context, input, wanted) {
    return await find(context, input, wanted)
  },
})
