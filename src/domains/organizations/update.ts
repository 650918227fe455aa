import Type from 'typebox'
import { parseAbn } from '#core/abn.ts'
import { invalidField } from '#core/problem.ts'
import { Closed, Described, Email, NotBlank, Nullable, Uuid } from '#core/shapes.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_ORGANIZATION, OrganizationRecord, toRecord } from './wire.ts'

const ShortText = Type.Optional(Nullable(Type.String({ maxLength: 2_000 })))

/** Updates the given fields of the organization; null clears a field. Owners and admins only. */
export default operation({
  id: 'organizations.update',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    name: Type.Optional(Described(NotBlank(200), 'Display name of the organization')),
    description: Described(ShortText, 'Description of the organization'),
    website: Described(ShortText, 'Website of the organization'),
    abn: Described(Type.Optional(Nullable(Type.String({ maxLength: 20 }))), 'Australian Business Number, with its check digits'),
    billing_email: Described(Type.Optional(Nullable(Email)), 'Email address for invoices'),
    default_project_id: Described(Type.Optional(Nullable(Uuid)), 'ID of the project that the console suggests for new work'),
  }),
  output: OrganizationRecord,
  example: { input: { name: 'Coastal Survey', abn: '51 824 753 556' }, output: { ...EXAMPLE_ORGANIZATION, abn: '51824753556' } },
}).handle({
  async check({ db, principal }, { abn, default_project_id }) {
    memberships.requireSignedIn(principal)
    const organizationId = organizations.requireOrganization(principal)
    organizations.requireAdmin(principal)
    const digits = abn == null ? abn : parseAbn(abn)
    if (abn != null && digits === null)
      throw invalidField('abn', 'must be an Australian Business Number: 11 digits, with valid check digits')
    if (default_project_id != null) {
      const project = projects.requireActive(await projects.requireReader(db, principal, default_project_id))
      if (project.organizationId !== organizationId) throw invalidField('default_project_id', 'must be a project of the organization')
    }
    return { organizationId, abn: digits }
  },
  async execute({ tx, clock }, input, { organizationId, abn }) {
    const change = {
      name: input.name?.trim(),
      description: input.description,
      website: input.website,
      abn,
      billingEmail: input.billing_email,
      defaultProjectId: input.default_project_id,
    }
    return toRecord(await organizations.update(tx, organizationId, change, clock.now()))
  },
})
