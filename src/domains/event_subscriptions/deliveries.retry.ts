import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as deliveries from '#model/events/delivery.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { DeliveryRecord, EXAMPLE_DELIVERY, toDelivery } from './wire.ts'

/** Retries a failed delivery or a dead letter: immediately, then on the whole retry schedule. */
export default operation({
  id: 'event_subscriptions.deliveries.retry',
  scope: 'event_subscriptions:write',
  tier: 'share_export',
  input: Closed({ delivery_id: Type.String({ maxLength: 100, description: 'Delivery ID' }) }),
  output: DeliveryRecord,
  example: {
    input: { delivery_id: EXAMPLE_DELIVERY.id },
    output: { ...EXAMPLE_DELIVERY, state: 'pending', next_attempt_at: EXAMPLE_DELIVERY.created_at, ended_at: null, attempts: [] },
  },
}).handle({
  async check({ db, principal }, { delivery_id }) {
    return await deliveries.requireSubscription(db, requireOrganization(principal), delivery_id)
  },
  async execute({ tx, clock }, { delivery_id }, subscriptionId) {
    return toDelivery(await deliveries.retry(tx, subscriptionId, delivery_id, clock.now()))
  },
})
