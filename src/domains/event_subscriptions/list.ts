import Type from 'typebox'
import { Closed, Nullable } from '#core/shapes.ts'
import * as subscriptions from '#model/events/subscription.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EventTypeName, EXAMPLE_SUBSCRIPTION, SubscriptionRecord, toRecord } from './wire.ts'

/** The organization's subscriptions, newest first. */
export default operation({
  id: 'event_subscriptions.list',
  scope: 'event_subscriptions:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    event_type: Type.Optional(Nullable(EventTypeName)),
    active: Type.Optional(Nullable(Type.Boolean({ description: 'Only active (`true`) or paused (`false`) subscriptions' }))),
  }),
  output: Closed({
    event_subscriptions: Type.Array(SubscriptionRecord, { description: 'Event subscriptions' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: { active: true }, output: { event_subscriptions: [EXAMPLE_SUBSCRIPTION], count: 1 } },
}).handle({
  async execute({ db, principal }, { event_type, active }) {
    const rows = await subscriptions.list(db, requireOrganization(principal), { eventType: event_type ?? null, isActive: active ?? null })
    return { event_subscriptions: rows.map(toRecord), count: rows.length }
  },
})
