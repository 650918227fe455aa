import { Closed, Described, Uuid } from '#core/shapes.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { searchItems, readSearch } from './search.lib.ts'
import { EXAMPLE_SEARCH_RESULT, ItemSearchResult, searchFields } from './search.wire.ts'
import { EXAMPLE_ITEM } from '#wire/item.ts'

/** Items of one project by area, time, collection, type and properties; newest first by default. */
export default operation({
  id: 'items.search',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ project_id: Described(Uuid, 'Project ID'), ...searchFields }),
  output: ItemSearchResult,
  example: {
    input: {
      project_id: EXAMPLE_ITEM.project_id,
      bbox: [146, -19, 147, -18],
      datetime: '2026-02-01/2026-02-28',
      query: { 'eo:cloud_cover': { lt: 10 } },
    },
    output: EXAMPLE_SEARCH_RESULT,
  },
}).handle({
  async check({ db, principal }, { project_id, ...fields }) {
    const search = readSearch(fields)
    const project = await projects.requireReader(db, principal, project_id)
    return { ...search, organizationId: project.organizationId, projectId: project.id, hiddenProjectIds: [] }
  },
  async execute(context, _input, search) {
    return await searchItems(context, search)
  },
})
