import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as paymentMethods from '#model/money/payment-method.ts'
import { operation } from '#operation.ts'
import { CardRecord, EXAMPLE_CARD, toRecord } from './wire.ts'

/** Lists the organization's saved cards, newest first. */
export default operation({
  id: 'payment_methods.list',
  scope: 'billing:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({
    payment_methods: Type.Array(CardRecord, { description: 'Saved cards' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: {}, output: { payment_methods: [EXAMPLE_CARD], count: 1 } },
}).handle({
  check: async ({ principal }) => organizations.requireOrganization(principal),
  async execute({ db }, _input, organizationId) {
    const cards = await paymentMethods.list(db, organizationId)
    return { payment_methods: cards.map(toRecord), count: cards.length }
  },
})
