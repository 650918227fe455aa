import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as retention from '#model/imagery/retention.ts'
import { operation } from '#operation.ts'

/** Per call, in one transaction; `remaining` tells whether to call again. */
const BATCH_SIZE = 1_000

/** Operators only: runs retention now, for one batch of items of all organizations, each by one step. */
export default operation({
  id: 'items.expire_batch',
  scope: 'admin:write',
  tier: 'compute',
  events: ['item.updated', 'item.deleted'],
  input: Closed({}),
  output: Closed({
    examined: Type.Integer(),
    expiring: Type.Integer(),
    expired: Type.Integer(),
    archived: Type.Integer(),
    deleted: Type.Integer(),
    remaining: Type.Boolean(),
  }),
  example: { input: {}, output: { examined: 14, expiring: 9, expired: 3, archived: 0, deleted: 2, remaining: false } },
}).handle({
  async execute({ tx, clock, invocationId }) {
    const now = clock.now()
    await retention.lockBatch(tx)
    const seqs = [...(await retention.findDue(tx, { now, limit: BATCH_SIZE })).values()].flat()
    const moved = await retention.advance(tx, seqs, now)
    await retention.report(tx, moved, invocationId, now)
    const count = (state: string) => moved.filter((move) => move.item.lifecycleState === state).length
    const remaining = (await retention.findDue(tx, { now, limit: 1 })).size > 0
    return {
      examined: seqs.length,
      expiring: count('expiring'),
      expired: count('expired'),
      archived: count('archived'),
      deleted: count('deleted'),
      remaining,
    }
  },
})
