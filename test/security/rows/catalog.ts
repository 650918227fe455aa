import type { Rows } from '../rows.ts'
import { PRINCIPALS } from '../cast.ts'
import { otherProject } from '../makers.ts'
import { ANYBODY, CHANGES_A_PROJECT, FINDS_NOTHING, NOBODY } from '../statuses.ts'

/** A search that no host needs to be asked for: none has the collection. */
const NOWHERE = { collections: ['nothing'] }
const AREA = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ],
  ],
}
const SCENE = { scene_id: 'nothing' }

export const rows: Rows = {
  'catalog.aggregate': { ...ANYBODY, input: () => NOWHERE, breaks: null },
  'catalog.coverage': { ...ANYBODY, input: () => ({ area: AREA, footprints: [AREA] }), breaks: null },
  'catalog.federated_search': { ...ANYBODY, input: () => NOWHERE, breaks: null },
  'catalog.granule_points': {
    ...FINDS_NOTHING,
    input: () => ({ collection: 'nothing', href: 'https://nowhere.example/1.ndjson', bbox: [0, 0, 1, 1] }),
    breaks: null,
  },
  'catalog.image.quicklook': { ...FINDS_NOTHING, input: () => ({ host_name: 'sandbox-hr', image_id: 'nothing' }), breaks: null },
  'catalog.image.thumbnail': { ...FINDS_NOTHING, input: () => ({ host_name: 'sandbox-hr', image_id: 'nothing' }), breaks: null },
  'catalog.info.landsat': { ...FINDS_NOTHING, input: () => SCENE, breaks: null },
  'catalog.info.naip': { ...FINDS_NOTHING, input: () => SCENE, breaks: null },
  'catalog.info.sample': { ...FINDS_NOTHING, input: () => ({ provider: 'landsat', ...SCENE }), breaks: null },
  'catalog.info.sentinel': { ...FINDS_NOTHING, input: () => SCENE, breaks: null },
  'catalog.item.get': { ...FINDS_NOTHING, input: () => ({ host_name: 'sandbox-hr', id: 'nothing' }), breaks: null },
  'catalog.provider.samples': { ...FINDS_NOTHING, input: () => ({ provider: 'nobody' }), breaks: null },
  'catalog.providers.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'catalog.scene.cloud_cover': { ...FINDS_NOTHING, input: () => ({ host_name: 'sandbox-hr', id: 'nothing', area: AREA }), breaks: null },
  /** Whoever may change the project is told that there is no such host. */
  'catalog.scene.copy': {
    a: `${NOBODY} | 404 404 403 403 | 404 404 | 403 403 404 | 403 404 404 404`,
    b: `${NOBODY} | 404 404 404 404 | 404 404 | 403 403 404 | 403 404 404 404`,
    input: (_w, org) => ({ host_name: 'nobody', id: 'nothing', project_id: org.projectId }),
    missing: otherProject,
    breaks: 'table project',
  },
  'catalog.scene.save': {
    a: CHANGES_A_PROJECT.a.replaceAll('200', '404'),
    b: CHANGES_A_PROJECT.b.replaceAll('200', '404'),
    input: (_w, org) => ({ host_name: 'nobody', id: 'nothing', project_id: org.projectId }),
    missing: otherProject,
    breaks: 'table project',
  },
  'catalog.search': { ...ANYBODY, input: () => ({ host_name: 'sandbox-hr', ...NOWHERE }), breaks: null },
  'catalog.search_stream': { ...ANYBODY, input: () => ({ host_name: 'sandbox-hr', ...NOWHERE }), breaks: null },
  'catalog.sources.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'catalog.tile.render': {
    input: () => ({ collection: 'landsat', ...SCENE, visualization: 'rgb', z: 0, x: 0, y: 0, format: 'png' }),
    a: PRINCIPALS.map(() => 404).join(' '),
    breaks: null,
  },
  'catalog.vendors.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'catalog.viz.landsat': { ...ANYBODY, input: () => ({}), breaks: null },
  'catalog.viz.naip': { ...ANYBODY, input: () => ({}), breaks: null },
}
