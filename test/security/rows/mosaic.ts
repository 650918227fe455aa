import { ELSEWHERE, otherProject } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { allowedBut422, CHANGES_A_PROJECT } from '../statuses.ts'

export const rows: Rows = {
  // Whoever may change the project is told that the file lies on a host that is not an allowed one.
  'mosaic.register': {
    a: allowedBut422(CHANGES_A_PROJECT.a),
    b: allowedBut422(CHANGES_A_PROJECT.b),
    input: (_w, org) => ({
      project_id: org.projectId,
      name: 'x',
      mosaic_method: 'first',
      bbox: [0, 0, 1, 1],
      start_datetime: '2029-01-01T00:00:00Z',
      end_datetime: '2029-02-01T00:00:00Z',
      source_collections: ['somewhere'],
      data_asset: { href: ELSEWHERE, band_count: 3 },
    }),
    missing: otherProject,
    breaks: 'table collection',
  },
}
