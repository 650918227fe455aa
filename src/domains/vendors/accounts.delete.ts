import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as accounts from '#model/vendors/account.ts'
import { operation } from '#operation.ts'
import { HostName, requireFound } from './wire.ts'

/** Disconnects the organization's account at a vendor and deletes its credentials. An account with open orders cannot be deleted. */
export default operation({
  id: 'vendors.accounts.delete',
  scope: 'orders:write',
  tier: 'destructive',
  input: Closed({ host_name: HostName }),
  output: Closed(
    {
      ok: Type.Literal(true, { description: 'Always `true`' }),
      host_name: Type.String({ description: 'Host name of the vendor whose account was deleted' }),
    },
    { description: 'Confirmation of the deletion' },
  ),
  example: { input: { host_name: 'sandbox-vhr' }, output: { ok: true, host_name: 'sandbox-vhr' } },
}).handle({
  async check({ db, principal }, { host_name }) {
    const organizationId = await accounts.requireManager(db, principal)
    requireFound(await accounts.find(db, organizationId, host_name))
    return organizationId
  },
  async execute({ tx }, { host_name }, organizationId) {
    const account = requireFound(await accounts.lock(tx, organizationId, host_name))
    if (await accounts.hasOpenOrders(tx, account.id))
      throw problem('bad-request', 'Open orders use this account; it can be deleted when they have ended')
    await accounts.remove(tx, account)
    return { ok: true as const, host_name }
  },
})
