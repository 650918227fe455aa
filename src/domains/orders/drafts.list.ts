import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as drafts from '#model/orders/draft.ts'
import { operation } from '#operation.ts'
import { DraftSummary, EXAMPLE_DRAFT_SUMMARY, ownerOf, toSummary } from './drafts.wire.ts'

/** The caller's cart and draft orders, the cart first. */
export default operation({
  id: 'orders.drafts.list',
  scope: 'orders:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({}),
  output: Closed({
    drafts: Type.Array(DraftSummary, { description: 'Draft orders of the caller' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: {}, output: { drafts: [EXAMPLE_DRAFT_SUMMARY], count: 1 } },
}).handle({
  check: async ({ principal }) => ownerOf(principal),
  async execute({ db }, _input, owner) {
    const found = await drafts.list(db, owner)
    return { drafts: found.map(toSummary), count: found.length }
  },
})
