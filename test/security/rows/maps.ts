import type { Org, World } from '../../support/world.ts'
import { other, otherProject } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_PROJECT, READS_A_PROJECT } from '../statuses.ts'

const given = (_w: World, org: Org) => ({ project_id: org.projectId, name: 'x' })
const map = async (w: World, org: Org) => ({ map_id: (await w.ok(org.owner.token, 'maps.create', given(w, org))).id as string })
const missing = other('map_id')

export const rows: Rows = {
  'maps.create': { ...CHANGES_A_PROJECT, input: given, missing: otherProject, breaks: 'table map' },
  'maps.delete': { ...CHANGES_A_PROJECT, input: map, missing, breaks: 'table map' },
  'maps.get': { ...READS_A_PROJECT, input: map, missing, breaks: 'table map' },
  'maps.list': { ...READS_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId }), missing: otherProject, breaks: 'table map' },
  'maps.update': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await map(w, org)), name: 'y' }),
    missing,
    breaks: 'column map.updated_at',
  },
}
