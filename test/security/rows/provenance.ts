import { other, project } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { NOBODY } from '../statuses.ts'

export const rows: Rows = {
  'provenance.get': {
    input: async (w, org) => ({ entity_type: 'project', entity_id: (await project(w, org)).project_id }),
    missing: other('entity_id'),
    a: `${NOBODY} | 200 200 200 200 | 404 403 | 200 200 200 | 403 403 200 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 404 404 404 | 403 403 404 403`,
    breaks: 'table lineage_node',
  },
}
