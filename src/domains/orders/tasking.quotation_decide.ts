import { notFound, problem } from '#core/problem.ts'
import { Choice, Closed } from '#core/shapes.ts'
import * as taskingDecisions from '#model/orders/tasking-decisions.ts'
import * as settlement from '#model/orders/settlement.ts'
import * as orders from '#model/orders/order.ts'
import * as groups from '#model/orders/order-group.ts'
import * as quotations from '#model/orders/quotation.ts'
import type { Quotation } from '#model/orders/quotation.ts'
import { operation, type WriteContext } from '#operation.ts'
import { EXAMPLE_QUOTATION, QuotationId, QuotationRecord, toQuotation } from './decisions.wire.ts'
import { requireBelow } from './placing.lib.ts'
import { MaxCredits } from './wire.ts'

const UNDECIDABLE = {
  requested: 'The vendor has not issued this quotation yet',
  expired: 'This quotation has expired, or its order has ended',
  decided: 'This quotation is already decided',
} as const

/** Accepts a quotation and reserves its price, or rejects it and closes the group without a charge. */
export default operation({
  id: 'orders.tasking.quotation_decide',
  scope: 'orders:write',
  tier: 'external_spend',
  idempotent: true,
  events: ['quotation.accepted', 'quotation.rejected', 'order.placed', 'order.cancelled', 'credits.low_balance', 'credits.depleted'],
  input: Closed({
    quotation_id: QuotationId,
    decision: Choice(['ACCEPTED', 'REJECTED'], { description: 'Decision; rejecting closes the group without a charge' }),
    maxCredits: MaxCredits,
  }),
  output: QuotationRecord,
  example: {
    input: { quotation_id: EXAMPLE_QUOTATION.id, decision: 'ACCEPTED' },
    output: { ...EXAMPLE_QUOTATION, state: 'decided', decision: 'ACCEPTED', decisionAt: EXAMPLE_QUOTATION.createdAt },
  },
}).handle({
  async permit({ db, principal }, { quotation_id }) {
    const quotation = await quotations.find(db, quotation_id)
    if (!quotation) throw notFound('quotation')
    return { quotation, order: await orders.requireBuyer(db, principal, quotation.orderId, 'quotation') }
  },
  async check({ clock }, _input, { quotation, order }) {
    const state = quotations.stateOf(quotation, clock.now())
    if (state !== 'issued') throw problem('bad-request', UNDECIDABLE[state])
    return { quotation, order }
  },
  async prepare(context, { decision, maxCredits }, { quotation, order }) {
    if (decision === 'REJECTED') return null
    requireBelow(maxCredits ?? null, quotation.credits!)
    const caller = { principal: context.principal, operation: 'orders.tasking.quotation_decide', idempotencyKey: context.idempotencyKey }
    return await taskingDecisions.authorize(context, caller, { order, groupId: quotation.groupId, credits: quotation.credits! })
  },
  async execute(context, { decision }, { quotation }, funding) {
    context.attributeTo(quotation.organizationId)
    await taskingDecisions.lockUndecided(context, quotation.orderId)
    const decided = await quotations.decide(context.tx, quotation.id, decision, context.clock.now())
    if (!decided) throw problem('bad-request', 'This quotation was already decided or has expired')
    if (funding) await accept(context, decided, funding)
    else await reject(context, decided)
    return toQuotation(decided, context.clock.now())
  },
})

async function accept(context: WriteContext, decided: Quotation, funding: taskingDecisions.Funding): Promise<void> {
  const terms = { credits: decided.credits!, reservedCredits: decided.credits!, vendorQuotationId: decided.vendorId }
  await groups.agree(context.tx, decided.groupId, 'accept', terms, context.clock.now())
  await taskingDecisions.reserveTotal(context, funding, decided.orderId)
  context.events.emit('quotation.accepted', decided.id, quotations.summary(decided))
  await taskingDecisions.proceed(context, decided.orderId)
}

async function reject(context: WriteContext, decided: Quotation): Promise<void> {
  context.events.emit('quotation.rejected', decided.id, quotations.summary(decided))
  await settlement.closeGroup(context, { id: decided.groupId, orderId: decided.orderId }, 'The quotation was rejected')
}
