import { Closed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ORGANIZATION, OrganizationRecord, toRecord } from './wire.ts'

/** Returns the organization that the caller acts for. */
export default operation({
  id: 'organizations.get',
  scope: 'organizations:read',
  tier: 'read',
  input: Closed({}),
  output: OrganizationRecord,
  example: { input: {}, output: EXAMPLE_ORGANIZATION },
}).handle({
  async check({ principal }) {
    return organizations.requireOrganization(principal)
  },
  async execute({ db }, _input, organizationId) {
    return toRecord(await organizations.get(db, organizationId))
  },
})
