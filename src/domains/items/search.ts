import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { find, readSearch } from './search.lib.ts'
import { EXAMPLE_FOUND, FoundItems, searchFields } from './search.wire.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'

/** Items of one project by place, time, collection, type and properties; newest first unless `sortby` says otherwise. */
export default operation({
  id: 'items.search',
  scope: 'items:read',
  tier: 'read',
  input: Closed({ project_id: Described(Uuid, 'Project ID'), ...searchFields }),
  output: FoundItems,
  example: {
    input: {
      project_id: EXAMPLE_ITEM.project_id,
      bbox: [146, -19, 147, -18],
      datetime: '2026-02-01/2026-02-28',
      query: { 'eo:cloud_cover': { lt: 10 } },
    },
    output: EXAMPLE_FOUND,
  },
}).handle({
  async check({ db, principal }, { project_id, ...fields }) {
    const read = readSearch(fields)
    const found = await projects.requireReader(db, principal, project_id)
    return { ...read, organizationId: found.organizationId, projectId: found.id, hiddenProjectIds: [] }
  },
  async execute(context, _input, search) {
    return await find(context, search)
  },
})
