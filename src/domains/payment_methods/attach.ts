import { PaymentsError } from '#ports/payments.ts'
import { notFound } from '#core/problem.ts'
import { Closed, Described, Matching } from '#core/shapes.ts'
import { hasDefaultCard, requireBillingAdmin } from '#model/money/billing-account.ts'
import { callProcessor, customerOf, requirePayments } from '#model/money/processor.ts'
import * as paymentMethods from '#model/money/payment-method.ts'
import { operation } from '#operation.ts'
import { CardRecord, EXAMPLE_CARD, toEvent, toRecord } from './wire.ts'

/** Saves a card that the client has confirmed with the payment processor. The first card becomes the default. */
export default operation({
  id: 'payment_methods.attach',
  scope: 'billing:write',
  tier: 'compute',
  input: Closed({
    payment_method_id: Described(
      Matching('^[A-Za-z0-9_]+$', 'must be a payment method ID such as pm_card_visa', {
        minLength: 4,
        maxLength: 100,
      }),
      'Payment method ID at the payment processor',
    ),
  }),
  output: CardRecord,
  events: ['payment_method.attached'],
  example: { input: { payment_method_id: 'pm_card_visa' }, output: EXAMPLE_CARD },
}).handle({
  async check({ db, principal, payments }) {
    const organizationId = await requireBillingAdmin(db, principal)
    return { organizationId, payments: requirePayments({ payments }) }
  },
  async prepare(context, { payment_method_id }, { organizationId, payments }) {
    const customerId = await customerOf(context, payments, organizationId)
    return await callProcessor(async () => {
      try {
        const card = await payments.attachMethod(customerId, payment_method_id, `attach:${context.invocationId}`)
        if (!(await hasDefaultCard(context.db, organizationId))) await payments.setDefaultMethod(customerId, card.id)
        return card
      } catch (error) {
        // A card of another customer must look like an unknown one.
        if (error instanceof PaymentsError && error.code === 'refused') throw notFound('payment method')
        throw error
      }
    })
  },
  async execute({ tx, clock, events }, _input, { organizationId }, attached) {
    const { card, isNew } = await paymentMethods.insert(tx, organizationId, attached, clock.now())
    if (isNew) events.emit('payment_method.attached', card.id, toEvent(card))
    return toRecord(card)
  },
})
