import type { Org, World } from '../../support/world.ts'
import { collection, otherCollection, otherProject } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_PROJECT, READS_A_PROJECT } from '../statuses.ts'

const inProject = async (w: World, org: Org) => ({ project_id: org.projectId, ...(await collection(w, org)) })

export const rows: Rows = {
  'collections.create': {
    ...CHANGES_A_PROJECT,
    input: (_w, org) => ({ project_id: org.projectId, name: 'x' }),
    missing: otherProject,
    breaks: 'table collection',
  },
  'collections.delete': { ...CHANGES_A_PROJECT, input: inProject, missing: otherCollection, breaks: 'column collection.deleted_at' },
  'collections.get': { ...READS_A_PROJECT, input: inProject, missing: otherCollection, breaks: 'table collection' },
  'collections.list': {
    ...READS_A_PROJECT,
    input: (_w, org) => ({ project_id: org.projectId }),
    missing: otherProject,
    breaks: 'table collection',
  },
  'collections.tile.render': {
    ...READS_A_PROJECT,
    input: async (w, org) => ({ ...(await collection(w, org)), z: 0, x: 0, y: 0 }),
    missing: otherCollection,
    breaks: 'table item',
  },
  'collections.tile.tilejson': { ...READS_A_PROJECT, input: collection, missing: otherCollection, breaks: 'table item' },
  'collections.update': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await inProject(w, org)), name: 'y' }),
    missing: otherCollection,
    breaks: 'column collection.layer_order',
  },
}
