import { notFound } from '#core/problem.ts'
import { Closed, Removed } from '#core/shapes.ts'
import * as domains from '#model/identity/sso-domain.ts'
import { operation } from '#operation.ts'
import { DomainName, requireDomain } from './domain-name.wire.ts'
import { EXAMPLE_DOMAIN, requireOwner } from './sso.wire.ts'

/** Removes a domain. People of this domain no longer join through it; members stay. Owners only. */
export default operation({
  id: 'organizations.domains.remove',
  scope: 'organizations:write',
  tier: 'destructive',
  changesAccess: true,
  input: Closed({ domain: DomainName }),
  output: Removed,
  example: { input: { domain: EXAMPLE_DOMAIN.domain }, output: { ok: true, id: EXAMPLE_DOMAIN.domain } },
}).handle({
  async check({ db, principal }, { domain }) {
    const organizationId = requireOwner(principal)
    return { organizationId, name: (await requireDomain(db, organizationId, domain)).domain }
  },
  async execute({ tx }, _input, { organizationId, name }) {
    if (!(await domains.remove(tx, organizationId, name))) throw notFound('domain')
    return { ok: true as const, id: name }
  },
})
