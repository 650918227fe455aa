import { computedRaster, item, otherItem, otherResult } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { allowedBut422, ANYBODY, NOBODY, READS_A_PROJECT } from '../statuses.ts'

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

/** Whoever may read the item and holds the scope is told that its file lies on a host that is not an allowed one. */
const PROCESSES_PIXELS = {
  a: allowedBut422(`${NOBODY} | 200 200 200 200 | 404 404 | 403 403 200 | 403 200 200 404`),
  b: allowedBut422(`${NOBODY} | 404 404 404 404 | 200 404 | 403 403 404 | 403 200 404 404`),
}

export const rows: Rows = {
  'analytics.band_math': {
    ...PROCESSES_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), formula: 'b1' }),
    missing: otherItem,
    breaks: null,
  },
  'analytics.calculate_index': {
    ...PROCESSES_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), index_name: 'ndvi' }),
    missing: otherItem,
    breaks: null,
  },
  'analytics.execute': {
    ...PROCESSES_PIXELS,
    input: async (w, org) => ({ operation: 'zonal_stats', params: { ...(await item(w, org)), geometry: AREA } }),
    missing: (input) => ({ ...input, params: otherItem((input as { params: object }).params) }),
    breaks: null,
  },
  'analytics.index.get': { ...ANYBODY, input: () => ({ index_name: 'ndvi' }), breaks: null },
  'analytics.indices.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'analytics.operations.get': { ...ANYBODY, input: () => ({ operation_name: 'zonal_stats' }), breaks: null },
  'analytics.operations.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'analytics.result.tile': {
    ...READS_A_PROJECT,
    input: async (w, org) => ({ ...(await computedRaster(w, org)), z: 0, x: 0, y: 0 }),
    missing: otherResult,
    breaks: 'table kept_file',
  },
  'analytics.sensors.list': { ...ANYBODY, input: () => ({}), breaks: null },
  'analytics.validate_formula': { ...ANYBODY, input: () => ({ formula: 'b1' }), breaks: null },
}
