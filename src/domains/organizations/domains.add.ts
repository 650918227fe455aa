import { invalidField, problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as memberships from '#model/identity/membership.ts'
import * as domains from '#model/identity/sso-domain.ts'
import { operation } from '#operation.ts'
import { DomainName } from './domain-name.wire.ts'
import { DomainRecord, EXAMPLE_DOMAIN, requireOwner, toDomain } from './sso.wire.ts'

/** Adds a domain and returns the DNS record that verifies it. The domain counts for nothing until then. Owners only. */
export default operation({
  id: 'organizations.domains.add',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({ domain: DomainName }),
  output: DomainRecord,
  example: {
    input: { domain: EXAMPLE_DOMAIN.domain },
    output: { ...EXAMPLE_DOMAIN, is_verified: false, verified_at: null, checked_at: null },
  },
}).handle({
  async check({ principal }, { domain }) {
    const organizationId = requireOwner(principal)
    const name = domains.normalise(domain)
    if (name === null) throw invalidField('domain', 'must be the name of a domain, such as coastal.example')
    return { organizationId, name }
  },
  async execute({ tx, clock }, _input, { organizationId, name }) {
    await memberships.lock(tx, organizationId)
    const present = await domains.list(tx, organizationId)
    if (present.length >= domains.MAX_DOMAINS && !present.some(({ domain }) => domain === name))
      throw problem('bad-request', `An organization can have at most ${domains.MAX_DOMAINS} domains; remove one first`)
    return toDomain(await domains.add(tx, organizationId, name, clock.now()))
  },
})
