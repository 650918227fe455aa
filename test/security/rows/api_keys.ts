import { other } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { NOBODY, READS_OWN } from '../statuses.ts'

const otherKey = other('key_id')

export const rows: Rows = {
  'api_keys.create': {
    input: () => ({ name: 'x' }),
    a: `${NOBODY} | 200 200 200 200 | 200 403 | 403 200 403 | 403 403 403 403`,
    breaks: 'table api_key',
  },
  'api_keys.list': { ...READS_OWN, input: () => ({}), breaks: 'table api_key' },
  'api_keys.revoke': {
    input: async (w, org) => ({ key_id: (await w.key(org.owner.token)).id }),
    missing: otherKey,
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 200 403 | 403 403 403 403`,
    b: `${NOBODY} | 404 404 404 404 | 200 403 | 403 404 403 | 403 403 404 403`,
    breaks: 'table api_key',
  },
  'api_keys.set_scopes': {
    input: async (w, org) => ({ key_id: (await w.key(org.owner.token)).id, scopes: ['clip:read'] }),
    missing: otherKey,
    a: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 200`,
    b: `${NOBODY} | 403 403 403 403 | 403 403 | 403 403 403 | 403 200 200 200`,
    breaks: 'table api_key',
  },
}
