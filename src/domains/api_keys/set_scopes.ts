import Type from 'typebox'
import { invalidField, notFound } from '#core/problem.ts'
import { isStorableScope } from '#core/scopes.ts'
import { Closed, Uuid } from '#core/shapes.ts'
import * as apiKeys from '#model/identity/api-key.ts'
import { operation } from '#operation.ts'
import { ApiKeyRecord, EXAMPLE_KEY, toRecord } from './wire.ts'

/** Operators only: replaces the explicit scopes of a key, the only way for a key to hold `clip` scopes. */
export default operation({
  id: 'api_keys.set_scopes',
  scope: 'admin:write',
  tier: 'compute',
  changesAccess: true,
  input: Closed({ key_id: Uuid, scopes: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 }) }),
  output: ApiKeyRecord,
  example: { input: { key_id: EXAMPLE_KEY.id, scopes: ['clip:read'] }, output: { ...EXAMPLE_KEY, explicit_scopes: ['clip:read'] } },
}).handle({
  async check({ db }, { key_id, scopes }) {
    const unknown = scopes.find((scope) => !isStorableScope(scope))
    if (unknown !== undefined) throw invalidField('scopes', `'${unknown}' is not a scope that a key can hold`)
    const key = await apiKeys.find(db, null, key_id)
    if (!key?.isActive) throw notFound('key')
    return key
  },
  async execute({ tx, attributeTo }, { scopes }, key) {
    attributeTo(key.organizationId)
    const changed = await apiKeys.setExplicitScopes(tx, key.id, [...new Set(scopes)])
    if (!changed) throw notFound('key')
    return toRecord(changed)
  },
})
