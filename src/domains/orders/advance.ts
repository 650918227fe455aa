import Type from 'typebox'
import { invalidField, notFound, problem } from '#core/problem.ts'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { isIn } from '#core/vocabulary.ts'
import { bind } from '#model/orders/delivered.ts'
import * as ending from '#model/orders/ending.ts'
import * as group from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import { ENDED_STATUSES } from '#model/orders/states.ts'
import { operation, type WriteContext } from '#operation.ts'
import { EXAMPLE_ORDER, OrderId, OrderRecord, toRecord } from './wire.ts'

const MAX_ITEMS = 1_000

/**
 * Moves an order on by hand, for a vendor that answers people and not programs: the vendor has accepted it; it has delivered,
 * and these items of the project are what came; or it has failed.
 */
export default operation({
  id: 'orders.advance',
  scope: 'admin:write',
  tier: 'compute',
  produces: ['item:delivered_for>order'],
  events: ['order.being_fulfilled', 'order.fulfilled', 'order.failed'],
  input: Closed({
    order_id: OrderId,
    to: Choice(['awaiting_data', 'fulfilled', 'failed'], { description: 'Where it is moved to' }),
    group_id: Type.Optional(Nullable(Type.String({ maxLength: 100, description: 'Only this group; all that are open by default' }))),
    item_ids: Type.Optional(
      Nullable(
        Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
          minItems: 1,
          maxItems: MAX_ITEMS,
          uniqueItems: true,
          description: 'For fulfilled: items of the project that the vendor delivered',
        }),
      ),
    ),
    reason: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 1_000, description: 'Why the job failed; null if it has not' }))),
  }),
  output: OrderRecord,
  example: {
    input: { order_id: EXAMPLE_ORDER.id, to: 'failed', reason: 'The archive has lost the scene' },
    output: { ...EXAMPLE_ORDER, status: 'failed', failureReason: 'The archive has lost the scene' },
  },
}).handle({
  async check({ db }, { order_id, to, item_ids, reason }) {
    const found = await orders.find(db, order_id)
    if (!found) throw notFound('order')
    if (found.status !== 'processing' && found.status !== 'awaiting_data')
      throw problem('bad-request', `This order is ${found.status}; only orders that are processing or awaiting data are moved on`)
    if ((to === 'fulfilled') !== (item_ids != null)) throw invalidField('item_ids', 'say what was delivered, and only then')
    if ((to === 'failed') !== (reason != null)) throw invalidField('reason', 'say why it failed, and only then')
    return found
  },
  async execute(context, { to, group_id, item_ids, reason }, { id, organizationId }) {
    context.attributeTo(organizationId)
    const current = await orders.lock(context.tx, id)
    const groups = current.groups.filter((one) => !isIn(ENDED_STATUSES, one.status) && (group_id == null || one.id === group_id))
    if (groups.length === 0) throw problem('bad-request', 'No open group matches group_id')
    if (to === 'fulfilled') await deliver(context, current, groups, item_ids!)
    else {
      context.lineage.nothingProduced()
      if (to === 'awaiting_data') await accept(context, current, groups)
      else for (const one of groups) await ending.failGroup(context, one, reason!)
    }
    return toRecord(await orders.get(context.tx, id))
  },
})

async function accept(context: WriteContext, current: Order, groups: readonly Group[]): Promise<void> {
  const now = context.clock.now()
  for (const { id } of groups) {
    await group.move(context.tx, id, 'place', {}, now)
    await group.move(context.tx, id, 'accept', {}, now)
  }
  await orders.move(context, current, 'accept')
}

async function deliver(context: WriteContext, current: Order, groups: readonly Group[], itemIds: readonly string[]): Promise<void> {
  const { tx, clock, lineage } = context
  await accept(context, current, groups)
  await bind(tx, current, itemIds, clock.now())
  for (const { id, reservedCredits } of groups) {
    await group.move(tx, id, 'fetch', {}, clock.now())
    await group.move(tx, id, 'deliver', { capturedCredits: reservedCredits, itemIds }, clock.now())
  }
  await ending.concludeIfDone(context, current.id)
  for (const id of itemIds) lineage.record('item', id, 'delivered_for', { kind: 'order', id: current.id })
}
