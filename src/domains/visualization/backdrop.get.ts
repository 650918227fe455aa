import { Closed } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as backdrops from '#model/imagery/backdrop.ts'
import { operation } from '#operation.ts'
import { BackdropResult, EXAMPLE_RESULT, toResult } from './backdrop.wire.ts'

/** Returns what the caller sees behind the imagery of every map. An API key has the built-in base map. */
export default operation({
  id: 'visualization.backdrop.get',
  scope: 'items:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({}),
  output: BackdropResult,
  example: { input: {}, output: EXAMPLE_RESULT },
}).handle({
  async execute({ db, principal }) {
    const organizationId = requireOrganization(principal)
    if (principal.kind !== 'user') return toResult(null)
    const backdrop = await backdrops.find(db, { organizationId, userId: principal.id })
    return toResult(backdrop && (await backdrops.named(db, principal, backdrop)))
  },
})
