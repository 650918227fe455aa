import Type from 'typebox'
import { problem } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as memberships from '#model/identity/membership.ts'
import * as connections from '#model/identity/sso-connection.ts'
import * as domains from '#model/identity/sso-domain.ts'
import * as rules from '#model/identity/sso-rules.ts'
import { operation } from '#operation.ts'
import { requireOwner, Role, RulesRecord, toRules } from './sso.wire.ts'

/**
 * Sets whether members must sign in at the provider, and whether people of verified domains join by themselves. Owners only. Requiring
 * it ends all other sessions of members for the organization at once; owners can still use their password, and API keys are not affected.
 */
export default operation({
  id: 'organizations.sso.set_rules',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    required: Type.Boolean({ description: 'Whether members must sign in at the provider' }),
    domain_role: Type.Optional(
      Described(Nullable(Role), "Role of people of a verified domain who sign in at the installation's provider; null: they do not join"),
    ),
  }),
  output: RulesRecord,
  example: { input: { required: true }, output: { required: true, domain_role: null } },
}).handle({
  async check({ db, principal, sso }, { required }) {
    const organizationId = requireOwner(principal)
    const connection = await connections.find(db, organizationId)
    if (required && connection) {
      if (connection.status !== 'verified')
        throw problem('bad-request', 'The provider was not found at the last check; check the connection before you require it')
      if (!(await domains.list(db, organizationId)).some(({ verifiedAt }) => verifiedAt !== null))
        throw problem('bad-request', 'Verify a domain first: until then the provider vouches for nobody')
    }
    if (required && !connection && !sso.installation) throw problem('bad-request', 'Connect a provider before you require single sign-on')
    return organizationId
  },
  async execute({ tx, clock }, { required, domain_role }, organizationId) {
    const now = clock.now()
    await memberships.lock(tx, organizationId)
    const before = await rules.find(tx, organizationId)
    const next = { isRequired: required, domainRole: domain_role === undefined ? before.domainRole : domain_role }
    await rules.put(tx, organizationId, next, now)
    if (required) await rules.endOthers(tx, organizationId, (await connections.find(tx, organizationId)) !== null, now)
    return toRules(next)
  },
})
