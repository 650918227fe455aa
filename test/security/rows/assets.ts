import { item, otherItem } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_PROJECT } from '../statuses.ts'

export const rows: Rows = {
  'assets.delete': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => {
      const { item_id } = await item(w, org)
      return { item_id, asset_id: (await w.ok(org.owner.token, 'items.list_assets', { item_id }))[1].id }
    },
    missing: otherItem,
    breaks: 'table asset',
  },
}
