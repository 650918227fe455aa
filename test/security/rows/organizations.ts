import { newId } from '#core/ids.ts'
import type { Org, World } from '../../support/world.ts'
import { other, otherOrganization, settledMonth } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { NOBODY, OPERATORS_ANYWHERE, READS_NAMED_ORGANIZATION, READS_OWN } from '../statuses.ts'

const otherNamed = other('organizationId')

/** Each row acts on members of its own: what one principal changes, the next must still find. */
const newMember = async (w: World, org: Org) => ({ user_id: (await w.member(org)).id })
const newInvitation = async (w: World, org: Org) => ({
  invitation_id: (await w.ok(org.owner.token, 'organizations.members.invite', { email: `i-${newId()}@example.com` })).invitation
    .id as string,
})

/** Only owners decide which provider is trusted. */
const OWNERS = { a: `${NOBODY} | 200 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403` }
const ADMINS = { a: `${NOBODY} | 200 200 403 403 | 200 403 | 403 403 403 | 403 403 403 403` }
/** Named by the organization that calls: others find their own, or none. */
const OWNERS_OF_IT = { a: OWNERS.a.replace('| 200 403 |', '| 404 403 |') }

const CONNECTION = { issuer: 'https://provider.test', client_id: 'x', client_secret: 'a secret', name: 'x' }
const connection = async (w: World, org: Org) => {
  await w.ok(org.owner.token, 'organizations.sso.put', CONNECTION)
  return {}
}
const domain = async (w: World, org: Org) => {
  const name = { domain: `d-${newId()}.example` }
  await w.ok(org.owner.token, 'organizations.domains.add', name)
  return name
}

export const rows: Rows = {
  'organizations.audit.list': {
    input: () => ({}),
    a: `${NOBODY} | 200 200 403 403 | 200 403 | 200 200 200 | 403 403 403 403`,
    breaks: 'column audit.artifacts',
  },
  'organizations.commitments.list': { ...READS_OWN, input: () => ({}), breaks: 'table commitment' },
  'organizations.commitments.put': {
    ...OPERATORS_ANYWHERE,
    missing: otherOrganization,
    input: (_w, org) => ({
      organization_id: org.id,
      name: 'x',
      period_start: '2030-01-01',
      period_end: '2030-12-31',
      minimum_aud: 5,
      rates: [],
    }),
    breaks: 'table commitment',
  },
  'organizations.commitments.statement': {
    ...READS_NAMED_ORGANIZATION,
    input: async (w, org) => ({ organization_id: org.id, period: (await settledMonth(w, org)).period }),
    missing: otherOrganization,
    breaks: 'table invoice',
  },
  'organizations.create': {
    input: () => ({ name: 'x' }),
    a: `${NOBODY} | 200 200 200 200 | 200 200 | 403 200 403 | 403 403 403 200`,
    breaks: 'column organization.slug',
  },
  'organizations.domains.add': { ...OWNERS, input: () => ({ domain: 'coastal.example' }), breaks: 'table sso_domain' },
  'organizations.domains.list': { ...ADMINS, input: () => ({}), breaks: 'table sso_domain' },
  'organizations.domains.remove': { ...OWNERS_OF_IT, input: domain, breaks: 'table sso_domain' },
  'organizations.domains.verify': { ...OWNERS_OF_IT, input: domain, breaks: 'table sso_domain' },
  'organizations.get': { ...READS_OWN, input: () => ({}), breaks: 'column organization.slug' },
  'organizations.invitations.list': {
    input: () => ({}),
    a: `${NOBODY} | 200 200 403 403 | 200 403 | 200 200 200 | 403 403 403 403`,
    breaks: 'column invitation.organization_role',
  },
  'organizations.invitations.revoke': {
    input: newInvitation,
    missing: other('invitation_id'),
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 403 403 | 403 403 403 403`,
    b: `${NOBODY} | 404 404 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'column invitation.organization_role',
  },
  'organizations.members.invite': {
    input: () => ({ email: `i-${newId()}@example.com` }),
    a: `${NOBODY} | 200 200 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'table invitation',
  },
  'organizations.members.list': {
    input: (_w, org) => ({ organizationId: org.id }),
    missing: otherNamed,
    a: `${NOBODY} | 200 200 403 403 | 403 403 | 200 200 200 | 403 403 403 403`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'column organization_member.spend_limit_credits',
  },
  'organizations.members.remove': {
    input: newMember,
    missing: other('user_id'),
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 403 403 | 403 403 403 403`,
    b: `${NOBODY} | 404 404 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'table project_member',
  },
  'organizations.members.reset_two_factors': {
    input: newMember,
    missing: other('user_id'),
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 403 403 | 403 403 403 403`,
    b: `${NOBODY} | 404 404 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'table recovery_code',
  },
  'organizations.members.set_role': {
    input: async (w, org) => ({ ...(await newMember(w, org)), role: 'member' }),
    missing: other('user_id'),
    a: `${NOBODY} | 200 200 403 403 | 404 403 | 403 403 403 | 403 403 403 403`,
    b: `${NOBODY} | 404 404 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'table invitation',
  },
  'organizations.members.set_spend_limit': {
    // Above what other rows order.
    input: (_w, org) => ({ organizationId: org.id, userId: org.owner.id, perOrderLimitCredits: 5_000_000, spendLimitCredits: null }),
    missing: otherNamed,
    a: `${NOBODY} | 200 200 403 403 | 403 403 | 403 403 403 | 403 403 403 403`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'column organization_member.spend_limit_credits',
  },
  'organizations.two_factors.get': {
    input: () => ({}),
    a: `${NOBODY} | 200 200 403 403 | 200 403 | 200 200 200 | 403 403 403 403`,
    breaks: 'table passkey',
  },
  // To require it, an owner needs a second factor; lifting the rule has the same permissions.
  'organizations.two_factors.set': {
    input: () => ({ is_required: false }),
    a: `${NOBODY} | 200 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'column organization.requires_two_factors',
  },
  'organizations.set_billing_mode': {
    ...OPERATORS_ANYWHERE,
    missing: otherOrganization,
    input: (_w, org) => ({ organization_id: org.id, billing_mode: 'standard' }),
    breaks: 'column organization.enterprise_status',
  },
  'organizations.set_public_links': {
    input: () => ({ allowed: true }),
    a: `${NOBODY} | 200 200 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'column organization.allows_public_links',
  },
  'organizations.sso.check': { ...OWNERS_OF_IT, input: connection, breaks: 'table sso_connection' },
  'organizations.sso.delete': { ...OWNERS_OF_IT, input: connection, breaks: 'table sso_connection' },
  'organizations.sso.get': { ...ADMINS, input: () => ({}), breaks: 'table sso_connection' },
  'organizations.sso.put': { ...OWNERS, input: () => CONNECTION, breaks: 'table sso_connection' },
  'organizations.sso.set_rules': { ...OWNERS, input: () => ({ required: false }), breaks: 'table sso_rules' },
  'organizations.update': { ...ADMINS, input: () => ({ name: 'x' }), breaks: 'column organization.default_project_id' },
}
