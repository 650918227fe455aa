import Type from 'typebox'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as connections from '#model/identity/sso-connection.ts'
import * as rules from '#model/identity/sso-rules.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import { ConnectionRecord, EXAMPLE_CONNECTION, requireReader, RulesRecord, toConnection, toRules } from './sso.wire.ts'

const BASE = 'https://imagery.example'

/** Returns how members of the organization sign in, and what to register at the provider. Owners and admins only. */
export default operation({
  id: 'organizations.sso.get',
  scope: 'organizations:read',
  tier: 'read',
  input: Closed({}),
  output: Closed(
    {
      connection: Described(Nullable(ConnectionRecord), "The organization's provider; null if none is connected"),
      rules: Described(RulesRecord, 'How members sign in'),
      redirect_uri: Type.String({ description: 'Redirect URI to register at the provider' }),
      sign_out_uri: Type.String({ description: 'URI to register at the provider for the return after signing out' }),
      sign_in_url: Type.String({ description: 'Address that begins the sign-in of members' }),
      installation: Described(Nullable(Type.String()), 'Name of the provider of the whole installation; null if there is none'),
    },
    { description: 'Single sign-on of the organization' },
  ),
  example: {
    input: {},
    output: {
      connection: EXAMPLE_CONNECTION,
      rules: { required: false, domain_role: null },
      redirect_uri: `${BASE}/auth/sso/callback/${EXAMPLE_IDS.organization}`,
      sign_out_uri: `${BASE}/app/sign-in`,
      sign_in_url: `${BASE}/auth/sso/start?organization=${EXAMPLE_IDS.organization}`,
      installation: null,
    },
  },
}).handle({
  async check({ principal }) {
    return requireReader(principal)
  },
  async execute({ db, baseUrl, sso }, _input, organizationId) {
    const connection = await connections.find(db, organizationId)
    return {
      connection: connection && toConnection(connection),
      rules: toRules(await rules.find(db, organizationId)),
      redirect_uri: `${baseUrl}/auth/sso/callback/${organizationId}`,
      sign_out_uri: `${baseUrl}/app/sign-in`,
      sign_in_url: `${baseUrl}/auth/sso/start?organization=${organizationId}`,
      installation: sso.installation?.name ?? null,
    }
  },
})
