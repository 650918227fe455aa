import { project } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { READS_A_PROJECT } from '../statuses.ts'
import { otherProject } from '../makers.ts'

export const rows: Rows = {
  'reports.generate': {
    ...READS_A_PROJECT,
    input: async (w, org) => ({ report_type: 'project', ...(await project(w, org)), format: 'json' }),
    missing: otherProject,
    breaks: 'table item',
  },
}
