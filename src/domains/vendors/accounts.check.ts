import { Closed } from '#core/shapes.ts'
import * as accounts from '#model/vendors/account.ts'
import { operation } from '#operation.ts'
import { AccountRecord, EXAMPLE_ACCOUNT, HostName, requireConnectable, requireFound, toRecord, verdictOf } from './wire.ts'

/** Asks the vendor whether it accepts the credentials of the organization's account, and stores the answer. */
export default operation({
  id: 'vendors.accounts.check',
  scope: 'orders:write',
  tier: 'compute',
  input: Closed({ host_name: HostName }),
  output: AccountRecord,
  example: { input: { host_name: 'sandbox-vhr' }, output: EXAMPLE_ACCOUNT },
}).handle({
  async check({ db, principal, vendors }, { host_name }) {
    const organizationId = await accounts.requireManager(db, principal)
    requireConnectable(vendors, host_name)
    return requireFound(await accounts.find(db, organizationId, host_name))
  },
  async prepare({ db, vendors, secrets, signal }, _input, { id, hostName }) {
    const secret = await accounts.createVendorAccounts(db, secrets).secretOf(id)
    return secret && (await verdictOf(vendors, hostName, secret, signal))
  },
  async execute({ tx, clock, vendors }, _input, { id }, verdict) {
    return toRecord(requireFound(verdict && (await accounts.setStatus(tx, id, verdict, clock.now()))), vendors)
  },
})
