import { Closed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import { acceptances } from '#model/licensing/licence.ts'
import { operation } from '#operation.ts'
import { EulaId, EulaRecord, EXAMPLE_EULA, requireEula, toEula } from './wire.ts'

/** One licence agreement, with whether the organization has accepted it. */
export default operation({
  id: 'eulas.get',
  scope: 'eulas:read',
  tier: 'read',
  input: Closed({ eula_id: EulaId }),
  output: EulaRecord,
  example: { input: { eula_id: EXAMPLE_EULA.id }, output: EXAMPLE_EULA },
}).handle({
  async check({ principal, vendors }, { eula_id }) {
    return { organizationId: organizations.requireOrganization(principal), licence: requireEula(vendors, eula_id) }
  },
  execute: async ({ db, vendors }, _input, { organizationId, licence }) => toEula(vendors, licence, await acceptances(db, organizationId)),
})
