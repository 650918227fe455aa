import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed, Described, Nullable } from '#core/shapes.ts'
import * as drafts from '#model/orders/draft.ts'
import { operation } from '#operation.ts'
import { DraftId, DraftRecord, EXAMPLE_DRAFT, ownerOf, toRecord } from './drafts.wire.ts'

/** One draft order of the caller with its scenes, or the cart. Prices are those of the time when it was saved. */
export default operation({
  id: 'orders.drafts.get',
  scope: 'orders:read',
  tier: 'read',
  input: Closed({ draft_id: Described(Type.Optional(Nullable(DraftId)), 'Draft ID; the cart if omitted') }),
  output: Closed({ draft: Described(Nullable(DraftRecord), 'The draft; null if nothing was ever in the cart') }),
  example: { input: { draft_id: EXAMPLE_DRAFT.id }, output: { draft: EXAMPLE_DRAFT } },
}).handle({
  async check({ db, principal }, { draft_id }) {
    const owner = ownerOf(principal)
    if (draft_id == null) return await drafts.findCart(db, owner)
    const draft = await drafts.find(db, owner, draft_id)
    if (!draft) throw notFound('draft')
    return draft
  },
  execute: async (_context, _input, draft) => ({ draft: draft && toRecord(draft) }),
})
