import Type from 'typebox'
import { problem } from '#core/problem.ts'
import type { Principal } from '#core/principal.ts'
import { accessDenied, notFound } from '#core/problem.ts'
import { Choice, Closed, Described, Matching, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { INVITED_ROLES, PROJECT_ROLES, SSO_STATUSES, type SsoStatus } from '#core/vocabulary.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import type { Connection } from '#model/identity/sso-connection.ts'
import { recordName, recordText, type Domain } from '#model/identity/sso-domain.ts'
import type { Rules } from '#model/identity/sso-rules.ts'
import { SsoFailure, type Provider, type SingleSignOn } from '#ports/sso.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

/** Whoever decides which provider is trusted can come in as anybody it vouches for, owners among them: so only owners decide. */
export function requireOwner(principal: Principal): string {
  memberships.requireSignedIn(principal)
  const organizationId = organizations.requireOrganization(principal)
  if (principal.organizationRole !== 'owner') throw accessDenied()
  return organizationId
}

export function requireReader(principal: Principal): string {
  memberships.requireSignedIn(principal)
  const organizationId = organizations.requireOrganization(principal)
  organizations.requireAdmin(principal)
  return organizationId
}

export function requireFound<T>(found: T | null): T {
  if (found === null) throw notFound('SSO connection')
  return found
}

/** What the provider says of itself. Addresses that we never call are the caller's mistake; silence is noted. */
export async function checked(sso: SingleSignOn, provider: Provider): Promise<{ status: SsoStatus; detail: string | null }> {
  try {
    await sso.discover(provider)
    return { status: 'verified', detail: null }
  } catch (error) {
    if (!(error instanceof SsoFailure)) throw error
    if (error.kind === 'address') throw problem('bad-request', error.message)
    return { status: 'failed', detail: error.message }
  }
}

const MAX_RULES = 50

export const Role = Choice(INVITED_ROLES)

const RoleRule = Closed(
  {
    value: Type.String({ minLength: 1, maxLength: 200, description: 'Value of the claim, such as the name of a group' }),
    role: Described(Role, 'Role in the organization that the value gives'),
    project_id: Type.Optional(Described(Uuid, 'ID of a project that the value gives access to')),
    project_role: Type.Optional(Choice(PROJECT_ROLES, { description: 'Role in this project' })),
  },
  { $id: 'SsoRoleRule', description: 'Which roles a value of the role claim gives' },
)

export const RoleRules = Type.Array(RoleRule, { maxItems: MAX_RULES })
export const SessionHours = Type.Integer({ minimum: 1, maximum: 720 })
export const Scopes = Matching('^(\\S+ )*openid( \\S+)*$', "must be scopes separated by single spaces, with 'openid' among them", {
  maxLength: 500,
})
export const Issuer = Matching('^https?://', 'must be an https URL', { maxLength: 500 })
export const Name = NotBlank(60)

export const ConnectionRecord = Closed(
  {
    issuer: Type.String({ description: 'Issuer URL of the provider' }),
    client_id: Type.String({ description: 'Client ID at the provider' }),
    has_secret: Type.Boolean({ description: 'Whether a client secret is stored; it is never returned' }),
    name: Type.String({ description: 'Name of the provider, shown to members' }),
    scopes: Type.String({ description: 'Requested scopes, separated by spaces' }),
    role_claim: Described(Nullable(Type.String()), 'Claim whose values give roles; null if roles are given here only'),
    role_rules: Type.Array(RoleRule, { description: 'Which roles the values of the claim give' }),
    default_role: Described(Nullable(Role), 'Role of people whose claims match no rule; null for no access'),
    session_hours: Type.Integer({ description: 'Hours until members sign in at the provider again' }),
    status: Choice(SSO_STATUSES, { description: 'Whether the provider was found at the last check' }),
    detail: Described(Nullable(Type.String()), 'What the last check found wrong; null if nothing'),
    checked_at: Described(Timestamp, 'Time of the last check'),
    updated_at: Described(Timestamp, 'Time of the last change'),
  },
  { $id: 'SsoConnection', description: "The organization's OpenID Connect provider" },
)

export function toConnection(connection: Connection) {
  return {
    issuer: connection.issuer,
    client_id: connection.clientId,
    has_secret: connection.hasSecret,
    name: connection.name,
    scopes: connection.scopes,
    role_claim: connection.roleClaim,
    role_rules: [...connection.roleRules],
    default_role: connection.defaultRole,
    session_hours: connection.sessionHours,
    status: connection.status,
    detail: connection.detail,
    checked_at: connection.checkedAt.toISOString(),
    updated_at: connection.updatedAt.toISOString(),
  }
}

export const EXAMPLE_CONNECTION = {
  issuer: 'https://login.coastal.example',
  client_id: 'groundtrack',
  has_secret: true,
  name: 'Coastal Survey',
  scopes: 'openid email profile',
  role_claim: 'groups',
  role_rules: [
    { value: 'imagery-admins', role: 'admin' as const },
    { value: 'reef-team', role: 'member' as const, project_id: EXAMPLE_IDS.project, project_role: 'editor' as const },
  ],
  default_role: null,
  session_hours: 24,
  status: 'verified' as const,
  detail: null,
  checked_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
}

export const RulesRecord = Closed(
  {
    required: Type.Boolean({ description: 'Whether members must sign in at the provider; owners can always use their password' }),
    domain_role: Described(
      Nullable(Role),
      "Role of people of a verified domain who sign in at the installation's provider; null if they do not join by themselves",
    ),
  },
  { $id: 'SsoRules', description: 'How members sign in' },
)

export const toRules = ({ isRequired, domainRole }: Rules) => ({ required: isRequired, domain_role: domainRole })

export const DomainRecord = Closed(
  {
    domain: Type.String({ description: 'Domain of email addresses' }),
    is_verified: Type.Boolean({ description: 'Whether the DNS record was found at the last check' }),
    record_name: Type.String({ description: 'Name of the TXT record to create' }),
    record_text: Type.String({ description: 'Text of the TXT record to create' }),
    verified_at: Described(Nullable(Timestamp), 'Time since which the domain is verified; null if it is not'),
    checked_at: Described(Nullable(Timestamp), 'Time of the last check; null if there was none'),
  },
  { $id: 'SsoDomain', description: 'A domain of the organization' },
)

export function toDomain({ domain, token, verifiedAt, checkedAt }: Domain) {
  return {
    domain,
    is_verified: verifiedAt !== null,
    record_name: recordName(domain),
    record_text: recordText(token),
    verified_at: verifiedAt?.toISOString() ?? null,
    checked_at: checkedAt?.toISOString() ?? null,
  }
}

export const EXAMPLE_DOMAIN = {
  domain: 'coastal.example',
  is_verified: true,
  record_name: '_groundtrack.coastal.example',
  record_text: 'groundtrack-verification=Zm9yLWV4YW1wbGUtb25seS0x',
  verified_at: EXAMPLE_AT,
  checked_at: EXAMPLE_AT,
}
