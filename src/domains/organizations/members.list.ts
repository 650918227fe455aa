import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_MEMBER, EXAMPLE_ORGANIZATION, MemberRecord, toMember } from './wire.ts'

/** Lists members with their roles and spend limits; for owners and admins. */
export default operation({
  id: 'organizations.members.list',
  scope: 'organizations:read',
  tier: 'read',
  input: Closed({ organizationId: Type.String({ description: 'Organization ID' }) }),
  output: Closed({
    members: Type.Array(MemberRecord, { description: 'Members of the organization' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: { organizationId: EXAMPLE_ORGANIZATION.id }, output: { members: [EXAMPLE_MEMBER], count: 1 } },
}).handle({
  async check({ principal }, { organizationId }) {
    const ownId = organizations.requireNamedOrganization(principal, organizationId)
    organizations.requireAdmin(principal)
    return ownId
  },
  async execute({ db }, _input, organizationId) {
    const members = (await organizations.listMembers(db, organizationId)).map(toMember)
    return { members, count: members.length }
  },
})
