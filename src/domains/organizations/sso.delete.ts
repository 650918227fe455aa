import { Closed, Removed } from '#core/shapes.ts'
import * as memberships from '#model/identity/membership.ts'
import * as connections from '#model/identity/sso-connection.ts'
import * as identities from '#model/identity/sso-identity.ts'
import * as rules from '#model/identity/sso-rules.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { requireFound, requireOwner } from './sso.wire.ts'

/**
 * Disconnects the organization from its provider. Sessions that began there end, single sign-on is no longer required, and members
 * stay: those without a password choose one with 'Forgot password?'. Owners only.
 */
export default operation({
  id: 'organizations.sso.delete',
  scope: 'organizations:write',
  tier: 'destructive',
  changesAccess: true,
  input: Closed({}),
  output: Removed,
  example: { input: {}, output: { ok: true, id: EXAMPLE_IDS.organization } },
}).handle({
  async check({ db, principal }) {
    const organizationId = requireOwner(principal)
    requireFound(await connections.find(db, organizationId))
    return organizationId
  },
  async execute({ tx, clock }, _input, organizationId) {
    await memberships.lock(tx, organizationId)
    requireFound((await connections.remove(tx, organizationId)) || null)
    await identities.endSessions(tx, organizationId, clock.now())
    const { domainRole } = await rules.find(tx, organizationId)
    await rules.put(tx, organizationId, { isRequired: false, domainRole }, clock.now())
    return { ok: true as const, id: organizationId }
  },
})
