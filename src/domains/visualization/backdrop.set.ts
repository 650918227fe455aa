import { requireSignedIn } from '#core/principal.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import * as backdrops from '#model/imagery/backdrop.ts'
import { operation } from '#operation.ts'
import { BackdropInput, BackdropResult, EXAMPLE_BACKDROP, EXAMPLE_RESULT, toResult } from './backdrop.wire.ts'

/** Changes what the caller sees behind the imagery of every map. */
export default operation({
  id: 'visualization.backdrop.set',
  scope: 'items:write',
  tier: 'compute',
  input: Closed({ backdrop: Described(Nullable(BackdropInput), 'Backdrop to show from now on; null for the built-in base map') }),
  output: BackdropResult,
  example: { input: { backdrop: EXAMPLE_BACKDROP }, output: EXAMPLE_RESULT },
}).handle({
  async check({ db, principal }, { backdrop }) {
    requireSignedIn(principal, 'choose a backdrop')
    const member = { organizationId: requireOrganization(principal), userId: principal.id! }
    const chosen = backdrop && { kind: backdrop.kind, target: backdrop.id }
    return { member, chosen: chosen && { ...chosen, name: await backdrops.nameOf(db, principal, chosen) } }
  },
  async execute({ tx, clock, attributeTo }, _input, { member, chosen }) {
    attributeTo(member.organizationId)
    if (chosen) await backdrops.put(tx, member, chosen, clock.now())
    else await backdrops.remove(tx, member)
    return toResult(chosen)
  },
})
