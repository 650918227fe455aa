import Type from 'typebox'
import { invalidField, problem } from '#core/problem.ts'
import { Closed, Described, NotBlank } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ORGANIZATION, OrganizationRecord, profileInput, toProfile, toRecord } from './wire.ts'

/** Creates an organization with the caller as its owner. After a session refresh, the caller acts for it. */
export default operation({
  id: 'organizations.create',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    name: Described(NotBlank(200), 'Display name of the organization'),
    ...profileInput,
    enterprise_billing: Described(Type.Optional(Type.Boolean()), 'Whether to request monthly invoicing'),
  }),
  output: OrganizationRecord,
  example: { input: { name: 'Coastal Survey', country: 'AU', website: 'https://coastal.example' }, output: EXAMPLE_ORGANIZATION },
}).handle({
  async check({ principal }, { billing_admin_id }) {
    if (!principal.userId) throw problem('forbidden', 'Only a signed-in user can create an organization')
    // A new organization has one member, so nobody else can be its billing admin yet.
    if (billing_admin_id && billing_admin_id !== principal.userId)
      throw invalidField('billing_admin_id', "must be the caller's own user ID, because a new organization has no other members")
    return principal.userId
  },
  async execute({ tx, clock, attributeTo }, input, ownerId) {
    await organizations.requireCanCreate(tx, ownerId)
    const organization = await organizations.insert(
      tx,
      ownerId,
      { ...toProfile(input), name: input.name, enterpriseRequested: input.enterprise_billing ?? false },
      clock.now(),
    )
    attributeTo(organization.id)
    return toRecord(organization)
  },
})
