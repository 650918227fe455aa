import { Closed } from '#core/shapes.ts'
import * as connections from '#model/identity/sso-connection.ts'
import { operation } from '#operation.ts'
import { checked, ConnectionRecord, EXAMPLE_CONNECTION, requireFound, requireOwner, toConnection } from './sso.wire.ts'

/** Asks the provider for its description and stores the result. Owners only. */
export default operation({
  id: 'organizations.sso.check',
  scope: 'organizations:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({}),
  output: ConnectionRecord,
  example: { input: {}, output: EXAMPLE_CONNECTION },
}).handle({
  async check({ db, principal }) {
    return requireFound(await connections.find(db, requireOwner(principal)))
  },
  async prepare({ sso }, _input, { issuer, clientId, scopes }) {
    return await checked(sso, { issuer, clientId, clientSecret: null, scopes })
  },
  async execute({ tx, clock }, _input, { organizationId }, found) {
    return toConnection(requireFound(await connections.setStatus(tx, organizationId, found, clock.now())))
  },
})
