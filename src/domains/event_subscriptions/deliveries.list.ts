import Type from 'typebox'
import { Choice, Closed, Limit, Nullable, Offset } from '#core/shapes.ts'
import { DELIVERY_STATES } from '#core/vocabulary.ts'
import * as deliveries from '#model/events/delivery.ts'
import * as subscriptions from '#model/events/subscription.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { DeliveryRecord, EXAMPLE_DELIVERY, EXAMPLE_SUBSCRIPTION, SubscriptionId, toDelivery } from './wire.ts'

/** Deliveries of a subscription with every attempt, newest first. Dead letters are kept for 30 days. */
export default operation({
  id: 'event_subscriptions.deliveries.list',
  scope: 'event_subscriptions:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    subscription_id: SubscriptionId,
    state: Type.Optional(Nullable(Choice(DELIVERY_STATES, { description: 'Only deliveries in this state; `dead` are undelivered' }))),
    limit: Limit(50, 200),
    offset: Offset,
  }),
  output: Closed({
    deliveries: Type.Array(DeliveryRecord, { description: 'Deliveries of this page' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: {
    input: { subscription_id: EXAMPLE_SUBSCRIPTION.id, state: 'delivered' },
    output: { deliveries: [EXAMPLE_DELIVERY], count: 1 },
  },
}).handle({
  async execute({ db, principal }, { subscription_id, state, limit, offset }) {
    const { id } = await subscriptions.requireOf(db, requireOrganization(principal), subscription_id)
    const page = await deliveries.list(db, id, { state: state ?? null, limit, offset })
    return { deliveries: page.map(toDelivery), count: page.length }
  },
})
