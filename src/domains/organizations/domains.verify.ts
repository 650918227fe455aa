import { Closed } from '#core/shapes.ts'
import { notFound } from '#core/problem.ts'
import * as domains from '#model/identity/sso-domain.ts'
import { operation } from '#operation.ts'
import { DomainName, requireDomain } from './domain-name.wire.ts'
import { DomainRecord, EXAMPLE_DOMAIN, requireOwner, toDomain } from './sso.wire.ts'

/** Looks for the DNS record of a domain. The domain is verified if it is there, and no longer if it is gone. Owners only. */
export default operation({
  id: 'organizations.domains.verify',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({ domain: DomainName }),
  output: DomainRecord,
  example: { input: { domain: EXAMPLE_DOMAIN.domain }, output: EXAMPLE_DOMAIN },
}).handle({
  async check({ db, principal }, { domain }) {
    const organizationId = requireOwner(principal)
    return { organizationId, domain: await requireDomain(db, organizationId, domain) }
  },
  async prepare({ sso }, _input, { domain: { domain, token } }) {
    return (await sso.txtRecords(domains.recordName(domain))).includes(domains.recordText(token))
  },
  async execute({ tx, clock }, _input, { organizationId, domain }, isVerified) {
    const found = await domains.setVerified(tx, organizationId, domain.domain, isVerified, clock.now())
    if (!found) throw notFound('domain')
    return toDomain(found)
  },
})
