import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ORGANIZATION, OrganizationRecord, toRecord } from './wire.ts'

/** Allows or forbids share links without a password. Once forbidden, existing ones stop working; they work again when allowed again. */
export default operation({
  id: 'organizations.set_public_links',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({ allowed: Type.Boolean({ description: 'Whether to allow share links without a password' }) }),
  output: OrganizationRecord,
  example: { input: { allowed: true }, output: { ...EXAMPLE_ORGANIZATION, allows_public_links: true } },
}).handle({
  async check({ principal }) {
    memberships.requireSignedIn(principal)
    const organizationId = organizations.requireOrganization(principal)
    organizations.requireAdmin(principal)
    return organizationId
  },
  async execute({ tx, clock }, { allowed }, organizationId) {
    await organizations.setPublicLinks(tx, organizationId, allowed, clock.now())
    return toRecord(await organizations.get(tx, organizationId))
  },
})
