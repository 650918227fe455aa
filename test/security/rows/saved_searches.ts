import type { Org, World } from '../../support/world.ts'
import { other, otherProject } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_PROJECT, READS_A_PROJECT } from '../statuses.ts'

const area = { type: 'Polygon', coordinates: [[[2.28, 48.18], [2.32, 48.18], [2.32, 48.22], [2.28, 48.18]]] } // prettier-ignore
const terms = (_w: World, org: Org) => ({ project_id: org.projectId, name: 'x', area, source_ids: ['sandbox-landsat'] })
const search = async (w: World, org: Org) => ({
  saved_search_id: (await w.ok(org.owner.token, 'saved_searches.create', terms(w, org))).saved_search.id as string,
})
const missing = other('saved_search_id')

export const rows: Rows = {
  'saved_searches.create': { ...CHANGES_A_PROJECT, input: terms, missing: otherProject, breaks: 'table saved_search' },
  'saved_searches.delete': { ...CHANGES_A_PROJECT, input: search, missing, breaks: 'table saved_search' },
  'saved_searches.get': { ...READS_A_PROJECT, input: search, missing, breaks: 'table saved_search' },
  'saved_searches.list': {
    ...READS_A_PROJECT,
    input: (_w, org) => ({ project_id: org.projectId }),
    missing: otherProject,
    breaks: 'table saved_search',
  },
  'saved_searches.run': { ...CHANGES_A_PROJECT, input: search, missing, breaks: 'table saved_search' },
  'saved_searches.update': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await search(w, org)), name: 'y' }),
    missing,
    breaks: 'column saved_search.updated_at',
  },
}
