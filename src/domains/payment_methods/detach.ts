import Type from 'typebox'
import { notFound, problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { billingModeOf, lockWallet, requireBillingAdmin } from '#model/money/billing-account.ts'
import { planOf } from '#model/plans/plan.ts'
import { requirePayments } from '#model/money/processor.ts'
import * as paymentMethods from '#model/money/payment-method.ts'
import { detachCardTask } from '#model/money/tasks.ts'
import { operation } from '#operation.ts'
import { CardRecord, EXAMPLE_CARD, toEvent, toRecord } from './wire.ts'

/** Removes a saved card. The default card cannot be removed while automatic top-up or a paid plan uses it. */
export default operation({
  id: 'payment_methods.detach',
  scope: 'billing:write',
  tier: 'destructive',
  input: Closed({ payment_method_row_id: Type.String({ maxLength: 100, description: 'ID of the saved card' }) }),
  output: Closed(
    { ok: Type.Literal(true, { description: 'Always `true`' }), ...CardRecord.properties },
    { description: 'Confirmation of the removal' },
  ),
  events: ['payment_method.detached'],
  example: {
    input: { payment_method_row_id: EXAMPLE_CARD.id },
    output: { ok: true, ...EXAMPLE_CARD, is_default: false, isDefault: false },
  },
}).handle({
  async check({ db, principal, payments }, { payment_method_row_id }) {
    const organizationId = await requireBillingAdmin(db, principal)
    const card = await paymentMethods.find(db, organizationId, payment_method_row_id)
    if (!card) throw notFound('payment method')
    requirePayments({ payments })
    return { organizationId, card }
  },
  async execute({ tx, clock, events, tasks }, _input, { organizationId, card }) {
    const { autoEnabled } = await lockWallet(tx, organizationId)
    const current = await paymentMethods.find(tx, organizationId, card.id)
    if (current?.isDefault && autoEnabled)
      throw problem('bad-request', 'Automatic top-up uses this card; turn it off or set another default card first')
    const plan = await planOf(tx, organizationId)
    if (current?.isDefault && plan.monthlyAud > 0 && (await billingModeOf(tx, organizationId)) !== 'enterprise')
      throw problem(
        'bad-request',
        `The plan '${plan.name}' is paid with this card; set another default card or change to the free plan first`,
      )
    const removed = await paymentMethods.detach(tx, organizationId, card.id, clock.now())
    if (!removed) throw notFound('payment method')
    events.emit('payment_method.detached', removed.id, toEvent(removed))
    await tasks.enqueue(detachCardTask, { processor_id: removed.processorId })
    return { ok: true as const, ...toRecord(removed) }
  },
})
