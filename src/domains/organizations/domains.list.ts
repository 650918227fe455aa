import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as domains from '#model/identity/sso-domain.ts'
import { operation } from '#operation.ts'
import { DomainRecord, EXAMPLE_DOMAIN, requireReader, toDomain } from './sso.wire.ts'

/** Lists the domains of the organization with the DNS records that verify them. Owners and admins only. */
export default operation({
  id: 'organizations.domains.list',
  scope: 'organizations:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ domains: Type.Array(DomainRecord, { description: 'Domains by name' }) }, { description: 'Domains of the organization' }),
  example: { input: {}, output: { domains: [EXAMPLE_DOMAIN] } },
}).handle({
  async check({ principal }) {
    return requireReader(principal)
  },
  async execute({ db }, _input, organizationId) {
    return { domains: (await domains.list(db, organizationId)).map(toDomain) }
  },
})
