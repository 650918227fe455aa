import type { Org, World } from '../../support/world.ts'
import type { Rows } from '../rows.ts'
import { NOBODY } from '../statuses.ts'

const HOST = { host_name: 'sandbox-vhr' }
const CREDENTIALS = { credentials: { key: 'sandbox-vendor-key' } }
const account = async (w: World, org: Org) => {
  await w.ok(org.owner.token, 'vendors.accounts.put', { ...HOST, ...CREDENTIALS })
  return HOST
}
/** An account is named by its vendor, so that other organizations find their own, or none. */
const CHANGES_OWN_ACCOUNT = { a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 403 403 | 403 403 403 403` }

export const rows: Rows = {
  'vendors.accounts.check': { ...CHANGES_OWN_ACCOUNT, input: account, breaks: 'table vendor_account' },
  'vendors.accounts.delete': { ...CHANGES_OWN_ACCOUNT, input: account, breaks: 'table vendor_account' },
  'vendors.accounts.list': {
    a: `${NOBODY} | 200 200 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    input: () => ({}),
    breaks: 'table vendor_account',
  },
  'vendors.accounts.put': {
    a: `${NOBODY} | 200 200 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    input: () => ({ ...HOST, ...CREDENTIALS }),
    breaks: 'table vendor_account',
  },
}
