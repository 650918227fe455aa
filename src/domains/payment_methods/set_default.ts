import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import { callProcessor, customerOf, requirePayments } from '#model/money/processor.ts'
import * as paymentMethods from '#model/money/payment-method.ts'
import { operation } from '#operation.ts'
import { CardRecord, EXAMPLE_CARD, toRecord } from './wire.ts'

/** Sets the default card, which is charged. */
export default operation({
  id: 'payment_methods.set_default',
  scope: 'billing:write',
  tier: 'compute',
  input: Closed({ payment_method_row_id: Type.String({ maxLength: 100, description: 'ID of the saved card' }) }),
  output: CardRecord,
  example: { input: { payment_method_row_id: EXAMPLE_CARD.id }, output: EXAMPLE_CARD },
}).handle({
  async check({ db, principal, payments }, { payment_method_row_id }) {
    const organizationId = await requireBillingAdmin(db, principal)
    const card = await paymentMethods.find(db, organizationId, payment_method_row_id)
    if (!card) throw notFound('payment method')
    return { organizationId, card, payments: requirePayments({ payments }) }
  },
  async prepare(context, _input, { organizationId, card, payments }) {
    const customerId = await customerOf(context, payments, organizationId)
    await callProcessor(() => payments.setDefaultMethod(customerId, card.processorId))
  },
  async execute({ tx }, _input, { organizationId, card }) {
    const changed = await paymentMethods.setDefault(tx, organizationId, card.id)
    if (!changed) throw notFound('payment method')
    return toRecord(changed)
  },
})
