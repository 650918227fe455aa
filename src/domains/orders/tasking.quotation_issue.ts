import Type from 'typebox'
import { CreditsInput } from '#core/money-shapes.ts'
import { notFound, problem } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { issueQuotation } from '#model/orders/vendor-responses.ts'
import * as orders from '#model/orders/order.ts'
import * as quotations from '#model/orders/quotation.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_QUOTATION, QuotationRecord, toQuotation } from './decisions.wire.ts'
import { EXAMPLE_ORDER_ID, OrderId } from './wire.ts'

/** Issues a quotation for a tasking order by hand, for a vendor without an API. */
export default operation({
  id: 'orders.tasking.quotation_issue',
  scope: 'admin:write',
  tier: 'compute',
  events: ['quotation.requested'],
  input: Closed({
    order_id: OrderId,
    group_id: Type.Optional(
      Nullable(Type.String({ maxLength: 100, description: 'Order group ID; required if several groups await a quotation' })),
    ),
    credits: CreditsInput(0, { description: 'Firm price in credits' }),
  }),
  output: QuotationRecord,
  example: { input: { order_id: EXAMPLE_ORDER_ID, credits: 12_400 }, output: EXAMPLE_QUOTATION },
}).handle({
  async check({ db }, { order_id, group_id }) {
    const order = await orders.find(db, order_id)
    if (!order) throw notFound('order')
    const waiting = order.groups.filter(({ id, subStatus }) => subStatus === 'awaiting_quotation' && (group_id == null || id === group_id))
    if (waiting.length !== 1)
      throw problem(
        'bad-request',
        waiting.length === 0 ? 'No group of this order awaits a quotation' : 'Several groups await a quotation; send group_id',
      )
    return { order, group: waiting[0]! }
  },
  async execute(context, { credits }, { order, group }) {
    context.attributeTo(order.organizationId)
    const quotation = await quotations.request(context, order.projectId, group)
    const issued = await issueQuotation(context, quotation, credits)
    if (!issued) throw problem('bad-request', 'This quotation was issued concurrently, or its order has ended')
    return toQuotation(issued, context.clock.now())
  },
})
