import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { requireBillingAdmin } from '#model/money/billing-account.ts'
import { callProcessor, customerOf, requirePayments } from '#model/money/processor.ts'
import { operation } from '#operation.ts'

/** Starts saving a card. The client confirms it with the payment processor, so that we never receive card data. */
export default operation({
  id: 'payment_methods.create_setup_intent',
  scope: 'billing:write',
  tier: 'compute',
  input: Closed({}),
  output: Closed(
    {
      client_secret: Type.String({ description: 'Secret a browser uses to confirm the card with the payment processor' }),
      setup_intent_id: Type.String({ description: 'Setup intent ID at the payment processor' }),
      customer_id: Type.String({ description: 'Customer ID at the payment processor' }),
      env: Type.String({ description: 'Payment environment: sandbox or live' }),
    },
    { description: 'What a browser needs to save a card' },
  ),
  example: {
    input: {},
    output: { client_secret: 'seti_1a2b_secret_3c4d', setup_intent_id: 'seti_1a2b', customer_id: 'cus_5e6f', env: 'sandbox' },
  },
}).handle({
  async check({ db, principal, payments }) {
    const organizationId = await requireBillingAdmin(db, principal)
    return { organizationId, payments: requirePayments({ payments }) }
  },
  async prepare(context, _input, { organizationId, payments }) {
    const customerId = await customerOf(context, payments, organizationId)
    const intent = await callProcessor(() => payments.createSetupIntent(customerId, `setup:${context.invocationId}`))
    return { client_secret: intent.clientSecret, setup_intent_id: intent.id, customer_id: customerId, env: payments.env }
  },
  execute: async (_context, _input, _facts, intent) => intent,
})
