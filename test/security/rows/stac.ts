import type { Rows } from '../rows.ts'
import { READS_OWN } from '../statuses.ts'

export const rows: Rows = {
  'stac.collections.list': { ...READS_OWN, input: () => ({}), breaks: 'table collection' },
  'stac.search': { ...READS_OWN, input: () => ({ filter: { op: 'isNull', args: [{ property: 'gsd' }] } }), breaks: 'table item' },
}
