import { isOrganizationAdmin } from '#core/principal.ts'
import { accessDenied, notFound } from '#core/problem.ts'
import { Closed, Described, Removed, Uuid } from '#core/shapes.ts'
import * as apiKeys from '#model/identity/api-key.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_KEY } from './wire.ts'

/** Revokes a key immediately and permanently, with the keys it created. Members can revoke their own keys, owners and admins any key. */
export default operation({
  id: 'api_keys.revoke',
  scope: 'api_keys:write',
  tier: 'destructive',
  changesAccess: true,
  input: Closed({ key_id: Described(Uuid, 'API key ID, not the key itself') }),
  output: Removed,
  example: { input: { key_id: EXAMPLE_KEY.id }, output: { ok: true, id: EXAMPLE_KEY.id } },
}).handle({
  async check({ db, principal }, { key_id }) {
    const organizationId = requireOrganization(principal)
    const key = await apiKeys.find(db, organizationId, key_id)
    if (!key?.isActive) throw notFound('key')
    if (key.userId !== principal.userId && !isOrganizationAdmin(principal)) throw accessDenied()
    return { organizationId, id: key.id }
  },
  async execute({ tx, clock }, _input, { organizationId, id }) {
    if (!(await apiKeys.revoke(tx, organizationId, id, clock.now()))) throw notFound('key')
    return { ok: true as const, id }
  },
})
