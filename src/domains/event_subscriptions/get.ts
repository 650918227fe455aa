import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as deliveries from '#model/events/delivery.ts'
import * as subscriptions from '#model/events/subscription.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { DeliveryRecord, EXAMPLE_DELIVERY, EXAMPLE_SUBSCRIPTION, SubscriptionId, SubscriptionRecord, toDelivery, toRecord } from './wire.ts'

const RECENT_COUNT = 20

/** One subscription with its latest deliveries; never its secret. */
export default operation({
  id: 'event_subscriptions.get',
  scope: 'event_subscriptions:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({ subscription_id: SubscriptionId }),
  output: Closed(
    {
      ...SubscriptionRecord.properties,
      recent_deliveries: Type.Array(DeliveryRecord, { description: `The latest ${RECENT_COUNT} deliveries, newest first` }),
    },
    { $id: 'EventSubscriptionWithDeliveries', description: 'An event subscription with its latest deliveries' },
  ),
  example: {
    input: { subscription_id: EXAMPLE_SUBSCRIPTION.id },
    output: { ...EXAMPLE_SUBSCRIPTION, recent_deliveries: [EXAMPLE_DELIVERY] },
  },
}).handle({
  async execute({ db, principal }, { subscription_id }) {
    const subscription = await subscriptions.requireOf(db, requireOrganization(principal), subscription_id)
    const recent = await deliveries.list(db, subscription.id, { state: null, limit: RECENT_COUNT, offset: 0 })
    return { ...toRecord(subscription), recent_deliveries: recent.map(toDelivery) }
  },
})
