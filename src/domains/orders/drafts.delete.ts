import { notFound } from '#core/problem.ts'
import { Closed, Removed } from '#core/shapes.ts'
import * as drafts from '#model/orders/draft.ts'
import { operation } from '#operation.ts'
import { DraftId, EXAMPLE_DRAFT, ownerOf } from './drafts.wire.ts'

/** Deletes a draft order of the caller. */
export default operation({
  id: 'orders.drafts.delete',
  scope: 'orders:write',
  tier: 'destructive',
  input: Closed({ draft_id: DraftId }),
  output: Removed,
  example: { input: { draft_id: EXAMPLE_DRAFT.id }, output: { ok: true, id: EXAMPLE_DRAFT.id } },
}).handle({
  async check({ db, principal }, { draft_id }) {
    const owner = ownerOf(principal)
    if (!(await drafts.find(db, owner, draft_id))) throw notFound('draft')
    return owner
  },
  async execute({ tx, attributeTo }, { draft_id }, owner) {
    attributeTo(owner.organizationId)
    if (!(await drafts.remove(tx, owner, draft_id))) throw notFound('draft')
    return { ok: true as const, id: draft_id }
  },
})
