import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Closed, Defaulted, Described, Nullable } from '#core/shapes.ts'
import * as memberships from '#model/identity/membership.ts'
import * as projects from '#model/identity/project.ts'
import * as connections from '#model/identity/sso-connection.ts'
import * as identities from '#model/identity/sso-identity.ts'
import { operation } from '#operation.ts'
import {
  checked,
  ConnectionRecord,
  EXAMPLE_CONNECTION,
  Issuer,
  Name,
  requireOwner,
  Role,
  RoleRules,
  Scopes,
  SessionHours,
  toConnection,
} from './sso.wire.ts'

/**
 * Connects the organization to an OpenID Connect provider, or replaces the connection. Owners only. A stored secret is never sent to
 * another issuer or for another client: with these it must be given again, and sessions that began at the old provider end.
 */
export default operation({
  id: 'organizations.sso.put',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({
    issuer: Described(Issuer, 'Issuer URL of the provider, whose description is at `/.well-known/openid-configuration` below it'),
    client_id: Type.String({ minLength: 1, maxLength: 500, description: 'Client ID at the provider' }),
    client_secret: Type.Optional(
      Described(Nullable(Type.String({ minLength: 1, maxLength: 2_000 })), 'Client secret; omit to keep it, null for a client without'),
    ),
    name: Described(Name, 'Name of the provider, shown to members'),
    scopes: Defaulted(Described(Scopes, 'Scopes to request, separated by spaces'), 'openid email profile'),
    role_claim: Defaulted(
      Described(Nullable(Type.String({ minLength: 1, maxLength: 200 })), 'Claim whose values give roles; null to give roles here only'),
      null,
    ),
    role_rules: Defaulted(Described(RoleRules, 'Which roles the values of the claim give'), []),
    default_role: Defaulted(Described(Nullable(Role), 'Role of people whose claims match no rule; null for no access'), 'member'),
    session_hours: Defaulted(Described(SessionHours, 'Hours until members sign in at the provider again'), 24),
  }),
  output: ConnectionRecord,
  example: {
    input: {
      issuer: EXAMPLE_CONNECTION.issuer,
      client_id: EXAMPLE_CONNECTION.client_id,
      client_secret: 'a secret of the provider',
      name: EXAMPLE_CONNECTION.name,
      role_claim: EXAMPLE_CONNECTION.role_claim,
      role_rules: EXAMPLE_CONNECTION.role_rules,
      default_role: null,
    },
    output: EXAMPLE_CONNECTION,
  },
}).handle({
  async check({ db, principal }, { issuer, client_id, client_secret, role_rules }) {
    const organizationId = requireOwner(principal)
    const existing = await connections.find(db, organizationId)
    const isSame = existing?.issuer === issuer && existing.clientId === client_id
    if (client_secret === undefined && !isSame)
      throw invalidField('client_secret', 'is required for a new issuer or client; null if the client has none')
    for (const [index, { project_id, project_role }] of role_rules.entries()) {
      const field = `role_rules.${index}.project_id`
      if ((project_id === undefined) !== (project_role === undefined))
        throw invalidField(field, 'needs project_role, and the other way round')
      if (project_id === undefined) continue
      const project = await projects.requireReader(db, principal, project_id)
      if (project.organizationId !== organizationId) throw invalidField(field, 'must be a project of the organization')
    }
    return { organizationId, isSame }
  },
  async prepare({ sso }, { issuer, client_id, scopes }) {
    return await checked(sso, { issuer, clientId: client_id, clientSecret: null, scopes })
  },
  async execute({ tx, principal, clock, secrets }, input, { organizationId, isSame }, found) {
    const now = clock.now()
    await memberships.lock(tx, organizationId)
    const connection = await connections.put(
      tx,
      secrets,
      {
        organizationId,
        issuer: input.issuer,
        clientId: input.client_id,
        clientSecret: input.client_secret,
        name: input.name.trim(),
        scopes: input.scopes,
        roleClaim: input.role_claim,
        roleRules: input.role_rules,
        defaultRole: input.default_role,
        sessionHours: input.session_hours,
        createdBy: principal.userId,
        ...found,
      },
      now,
    )
    if (!isSame) await identities.endSessions(tx, organizationId, now)
    return toConnection(connection)
  },
})
