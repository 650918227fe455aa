import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as apiKeys from '#model/identity/api-key.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { ApiKeyRecord, EXAMPLE_KEY, toRecord } from './wire.ts'

/** All keys of the organization, including revoked ones, newest first; never the secret. */
export default operation({
  id: 'api_keys.list',
  scope: 'api_keys:read',
  tier: 'read',
  input: Closed({}),
  output: Type.Array(ApiKeyRecord, { description: 'API keys of the organization' }),
  example: { input: {}, output: [EXAMPLE_KEY] },
}).handle({
  async check({ principal }) {
    return requireOrganization(principal)
  },
  async execute({ db }, _input, organizationId) {
    return (await apiKeys.list(db, organizationId)).map(toRecord)
  },
})
