import Type from 'typebox'
import { CreditsInput } from '#core/money-shapes.ts'
import { notFound, problem } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { issueQuotation } from '#model/orders/answers.ts'
import * as orders from '#model/orders/order.ts'
import * as quotations from '#model/orders/quotation.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_QUOTATION, QuotationRecord, toQuotation } from './decisions.wire.ts'
import { EXAMPLE_ORDER_ID, OrderId } from './wire.ts'

/** Issues a quotation for a tasking order, for a vendor that answers people and not programs. */
export default operation({
  id: 'orders.tasking.quotation_issue',
  scope: 'admin:write',
  tier: 'compute',
  events: ['quotation.requested'],
  input: Closed({
    order_id: OrderId,
    group_id: Type.Optional(
      Nullable(Type.String({ maxLength: 100, description: 'Which group; needed where several wait for a quotation' })),
    ),
    credits: CreditsInput(0, { description: 'The firm price' }),
  }),
  output: QuotationRecord,
  example: { input: { order_id: EXAMPLE_ORDER_ID, credits: 12_400 }, output: EXAMPLE_QUOTATION },
}).handle({
  async check({ db }, { order_id, group_id }) {
    const found = await orders.find(db, order_id)
    if (!found) throw notFound('order')
    const waiting = found.groups.filter(({ id, subStatus }) => subStatus === 'awaiting_quotation' && (group_id == null || id === group_id))
    if (waiting.length !== 1)
      throw problem(
        'bad-request',
        waiting.length === 0 ? 'No group of this order waits for a quotation' : 'Several groups wait: name one by group_id',
      )
    return { found, group: waiting[0]! }
  },
  async execute(context, { credits }, { found, group }) {
    context.attributeTo(found.organizationId)
    const asked = await quotations.request(context, found.projectId, group)
    const issued = await issueQuotation(context, asked, credits)
    if (!issued) throw problem('bad-request', 'This quotation was issued concurrently, or its order has ended')
    return toQuotation(issued, context.clock.now())
  },
})
