import { newId } from '#core/ids.ts'
import type { Org, World } from '../../support/world.ts'
import { ELSEWHERE, collection, item, otherCollection, otherItem, otherProject } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_PROJECT, OPERATORS, READS_A_PROJECT, READS_OWN, READS_PIXELS } from '../statuses.ts'

const asset = async (w: World, org: Org) => ({ ...(await item(w, org)), asset_id: 'data' })
const downloadable = async (w: World, org: Org) => ({ ...(await item(w, org)), asset_id: 'open' })
const feature = (assets: object) =>
  JSON.stringify({
    type: 'Feature',
    id: newId(),
    geometry: { type: 'Point', coordinates: [0, 0] },
    properties: { datetime: '2029-01-01T00:00:00Z' },
    assets,
  })
/** An asset whose bands its metadata tells: its host need not be asked. */
const namedBands = async (w: World, org: Org) => {
  const ndjson = feature({ data: { href: ELSEWHERE, 'eo:bands': [{ name: 'B04' }] } })
  await w.ok(org.owner.token, 'items.import_stac', { project_id: org.projectId, ndjson })
  return { item_id: JSON.parse(ndjson).id as string, asset_id: 'data', band_names: ['red'] }
}

export const rows: Rows = {
  'items.asset.download': { ...READS_A_PROJECT, input: downloadable, missing: otherItem, breaks: 'table egress_log' },
  'items.create': {
    ...CHANGES_A_PROJECT,
    input: (_w, org) => ({ project_id: org.projectId, type: 'user_raster', name: 'x', bbox: [0, 0, 1, 1] }),
    missing: otherProject,
    breaks: 'table item_cell',
  },
  'items.delete': { ...CHANGES_A_PROJECT, input: item, missing: otherItem, breaks: 'table asset' },
  'items.detect_asset_bands': { ...READS_PIXELS, input: asset, missing: otherItem, breaks: 'table asset' },
  'items.duplicate': { ...CHANGES_A_PROJECT, input: item, missing: otherItem, breaks: 'table asset' },
  'items.expire_batch': { ...OPERATORS, input: () => ({}), breaks: 'column item.due_at' },
  'items.get': { ...READS_A_PROJECT, input: item, missing: otherItem, breaks: 'table item' },
  'items.get_stac': { ...READS_A_PROJECT, input: item, missing: otherItem, breaks: 'table asset' },
  'items.import_stac': {
    ...CHANGES_A_PROJECT,
    input: (_w, org) => ({ project_id: org.projectId, ndjson: feature({}) }),
    missing: otherProject,
    breaks: 'table item_cell',
  },
  'items.line': {
    ...READS_PIXELS,
    input: async (w, org) => ({
      ...(await item(w, org)),
      geometry: {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
    }),
    missing: otherItem,
    breaks: 'table asset',
  },
  'items.lineage': { ...READS_A_PROJECT, input: item, missing: otherItem, breaks: 'table lineage_edge' },
  'items.list': { ...READS_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId }), missing: otherProject, breaks: 'table item' },
  'items.list_assets': { ...READS_A_PROJECT, input: item, missing: otherItem, breaks: 'table asset' },
  'items.list_by_collection': { ...READS_A_PROJECT, input: collection, missing: otherCollection, breaks: 'table item' },
  'items.list_expiring': { ...OPERATORS, input: () => ({}), breaks: 'column item.due_at' },
  'items.point': {
    ...READS_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), longitude: 0, latitude: 0 }),
    missing: otherItem,
    breaks: 'table asset',
  },
  'items.search': { ...READS_A_PROJECT, input: (_w, org) => ({ project_id: org.projectId }), missing: otherProject, breaks: 'table item' },
  'items.search_org': { ...READS_OWN, input: () => ({}), breaks: 'table item' },
  'items.set_asset_band_names': { ...CHANGES_A_PROJECT, input: namedBands, missing: otherItem, breaks: 'column item.updated_at' },
  'items.tile.legend': { ...READS_PIXELS, input: item, missing: otherItem, breaks: 'table visualization_profile' },
  'items.tile.render': {
    ...READS_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), z: 0, x: 0, y: 0 }),
    missing: otherItem,
    breaks: 'table visualization_profile',
  },
  'items.tile.statistics': {
    ...READS_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), expression: 'b1' }),
    missing: otherItem,
    breaks: 'table visualization_profile',
  },
  'items.tile.tilejson': { ...READS_PIXELS, input: item, missing: otherItem, breaks: 'table visualization_profile' },
  'items.tile.wmts_capabilities': {
    ...READS_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), base_url: 'https://maps.example' }),
    missing: otherItem,
    breaks: 'table visualization_profile',
  },
  'items.tile.wmts_get_tile': {
    ...READS_PIXELS,
    input: async (w, org) => ({ ...(await item(w, org)), z: 0, x: 0, y: 0 }),
    missing: otherItem,
    breaks: 'table visualization_profile',
  },
  'items.update': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await item(w, org)), name: 'y', bbox: [2, 2, 3, 3] }),
    missing: otherItem,
    breaks: 'table item_cell',
  },
}
