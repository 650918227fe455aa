import Type from 'typebox'
import { Closed, Removed } from '#core/shapes.ts'
import * as shareLinks from '#model/sharing/share-link.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_LINK } from './wire.ts'

/** Revokes a link by its ID. Visitors cannot load any more tiles. */
export default operation({
  id: 'share.link.revoke',
  scope: 'shares:write',
  tier: 'destructive',
  input: Closed({ link_id: Type.String({ minLength: 1, maxLength: 256, description: 'Share link ID, not its token' }) }),
  output: Removed,
  example: { input: { link_id: EXAMPLE_LINK.id }, output: { ok: true, id: EXAMPLE_LINK.id } },
}).handle({
  async check({ db, principal }, { link_id }) {
    return await shareLinks.requireEditor(db, principal, link_id)
  },
  async execute({ tx, clock, attributeTo }, _input, link) {
    attributeTo(link.organizationId)
    await shareLinks.revoke(tx, link.id, clock.now())
    return { ok: true as const, id: link.id }
  },
})
