import Type from 'typebox'
import { invalidField, notFound, problem } from '#core/problem.ts'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { isIn } from '#core/vocabulary.ts'
import { bind } from '#model/orders/delivered.ts'
import * as settlement from '#model/orders/settlement.ts'
import * as groups from '#model/orders/order-group.ts'
import type { Group } from '#model/orders/order-group.ts'
import * as orders from '#model/orders/order.ts'
import type { Order } from '#model/orders/order.ts'
import { ENDED_STATUSES } from '#model/orders/states.ts'
import { operation, type WriteContext } from '#operation.ts'
import { EXAMPLE_ORDER, OrderId, OrderRecord, toRecord } from './wire.ts'

const MAX_ITEMS = 1_000

/**
 * Advances an order by hand, for a vendor without an API: the vendor has accepted it, has delivered these items of the
 * project, or has failed.
 */
export default operation({
  id: 'orders.advance',
  scope: 'admin:write',
  tier: 'compute',
  produces: ['item:delivered_for>order'],
  events: ['order.being_fulfilled', 'order.fulfilled', 'order.failed'],
  input: Closed({
    order_id: OrderId,
    to: Choice(['awaiting_data', 'fulfilled', 'failed'], { description: 'New status of the order' }),
    group_id: Type.Optional(
      Nullable(Type.String({ maxLength: 100, description: 'ID of the group to advance; all open groups by default' })),
    ),
    item_ids: Type.Optional(
      Nullable(
        Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
          minItems: 1,
          maxItems: MAX_ITEMS,
          uniqueItems: true,
          description: 'IDs of the delivered items of the project; required for `fulfilled`',
        }),
      ),
    ),
    reason: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: 1_000, description: 'Why the order failed; required for `failed`' })),
    ),
  }),
  output: OrderRecord,
  example: {
    input: { order_id: EXAMPLE_ORDER.id, to: 'failed', reason: 'The archive has lost the scene' },
    output: { ...EXAMPLE_ORDER, status: 'failed', failureReason: 'The archive has lost the scene' },
  },
}).handle({
  async check({ db }, { order_id, to, item_ids, reason }) {
    const order = await orders.find(db, order_id)
    if (!order) throw notFound('order')
    if (order.status !== 'processing' && order.status !== 'awaiting_data')
      throw problem('bad-request', `This order is ${order.status}; only processing and awaiting_data orders can be advanced`)
    if ((to === 'fulfilled') !== (item_ids != null))
      throw invalidField('item_ids', 'is required if to is fulfilled, and not allowed otherwise')
    if ((to === 'failed') !== (reason != null)) throw invalidField('reason', 'is required if to is failed, and not allowed otherwise')
    return order
  },
  async execute(context, { to, group_id, item_ids, reason }, { id, organizationId }) {
    context.attributeTo(organizationId)
    const order = await orders.lock(context.tx, id)
    const openGroups = order.groups.filter((group) => !isIn(ENDED_STATUSES, group.status) && (group_id == null || group.id === group_id))
    if (openGroups.length === 0) throw problem('bad-request', 'No open group matches group_id')
    if (to === 'fulfilled') await deliver(context, order, openGroups, item_ids!)
    else {
      context.lineage.nothingProduced()
      if (to === 'awaiting_data') await accept(context, order, openGroups)
      else for (const group of openGroups) await settlement.failGroup(context, group, reason!)
    }
    return toRecord(await orders.get(context.tx, id))
  },
})

async function accept(context: WriteContext, order: Order, openGroups: readonly Group[]): Promise<void> {
  const now = context.clock.now()
  for (const { id } of openGroups) {
    await groups.move(context.tx, id, 'place', {}, now)
    await groups.move(context.tx, id, 'accept', {}, now)
  }
  await orders.move(context, order, 'accept')
}

async function deliver(context: WriteContext, order: Order, openGroups: readonly Group[], itemIds: readonly string[]): Promise<void> {
  const { tx, clock, lineage } = context
  await accept(context, order, openGroups)
  await bind(tx, order, itemIds, clock.now())
  for (const { id, reservedCredits } of openGroups) {
    await groups.move(tx, id, 'fetch', {}, clock.now())
    await groups.move(tx, id, 'deliver', { capturedCredits: reservedCredits, itemIds }, clock.now())
  }
  await settlement.concludeIfDone(context, order.id)
  for (const id of itemIds) lineage.record('item', id, 'delivered_for', { kind: 'order', id: order.id })
}
