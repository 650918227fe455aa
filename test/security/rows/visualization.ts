import type { Org, World } from '../../support/world.ts'
import { item, otherItem } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { ANYBODY, CHANGES_A_PROJECT, NOBODY, READS_A_PROJECT, READS_OWN } from '../statuses.ts'

const RGB = { type: 'rgb', config: { bands: [1, 2, 3] } }
const profile = async (w: World, org: Org) => {
  const { item_id } = await item(w, org)
  const { id } = await w.ok(org.owner.token, 'visualization.profile.create', { item_id, name: 'Target', ...RGB })
  return { item_id, profile_id: id as string }
}

/** It belongs to a member; a key has none. */
const OWN = `${NOBODY} | 200 200 200 200 | 200 403 | 403 403 403 | 403 403 403 403`

export const rows: Rows = {
  'visualization.backdrop.get': { ...READS_OWN, input: () => ({}), breaks: 'table map_backdrop' },
  'visualization.backdrop.set': {
    a: OWN,
    input: () => ({ backdrop: { kind: 'map', id: 'satellite' } }),
    breaks: 'table map_backdrop',
  },
  'visualization.list_for': { ...ANYBODY, input: () => ({}), breaks: null },
  'visualization.profile.create': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await item(w, org)), name: 'x', ...RGB }),
    missing: otherItem,
    breaks: 'table visualization_profile',
  },
  'visualization.profile.delete': { ...CHANGES_A_PROJECT, input: profile, missing: otherItem, breaks: 'table visualization_profile' },
  'visualization.profile.get': { ...READS_A_PROJECT, input: profile, missing: otherItem, breaks: 'table visualization_profile' },
  'visualization.profile.set_default': { ...CHANGES_A_PROJECT, input: profile, missing: otherItem, breaks: 'table visualization_profile' },
  'visualization.profile.update': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ ...(await profile(w, org)), name: 'y' }),
    missing: otherItem,
    breaks: 'table visualization_profile',
  },
  'visualization.profiles.list': { ...READS_A_PROJECT, input: item, missing: otherItem, breaks: 'table visualization_profile' },
}
