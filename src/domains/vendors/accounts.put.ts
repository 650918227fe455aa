import { problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as accounts from '#model/vendors/account.ts'
import { operation } from '#operation.ts'
import { AccountRecord, Credentials, EXAMPLE_ACCOUNT, HostName, requireConnectable, requireSecret, toRecord, verdictOf } from './wire.ts'

/**
 * Connects the organization's account at a vendor, or replaces its credentials. Orders at this vendor then use the account, and the
 * vendor bills the organization directly. Credentials that the vendor refuses are not stored.
 */
export default operation({
  id: 'vendors.accounts.put',
  scope: 'orders:write',
  tier: 'compute',
  input: Closed({ host_name: HostName, credentials: Credentials }),
  output: AccountRecord,
  example: { input: { host_name: 'sandbox-vhr', credentials: { key: 'sandbox-vendor-key' } }, output: EXAMPLE_ACCOUNT },
}).handle({
  async check({ db, principal, vendors }, { host_name, credentials }) {
    const organizationId = await accounts.requireManager(db, principal)
    const source = requireConnectable(vendors, host_name)
    return { organizationId, source, secret: requireSecret(source, credentials) }
  },
  async prepare({ vendors, signal }, _input, { source, secret }) {
    const verdict = await verdictOf(vendors, source.hostName, secret, signal)
    if (verdict.status === 'refused') throw problem('bad-request', `${source.title} does not accept these credentials; nothing was stored`)
    return verdict
  },
  async execute({ tx, principal, clock, vendors, secrets }, _input, { organizationId, source, secret }, verdict) {
    const account = { organizationId, hostName: source.hostName, secret, createdBy: principal.userId, ...verdict }
    return toRecord(await accounts.put(tx, secrets, account, clock.now()), vendors)
  },
})
