import Type from 'typebox'
import { eventType, type EventType } from '#core/event-types.ts'
import { newId } from '#core/ids.ts'
import { problem } from '#core/problem.ts'
import { Choice, Closed, Nullable } from '#core/shapes.ts'
import { DELIVERY_STATUSES } from '#core/vocabulary.ts'
import * as subscriptions from '#model/events/subscription.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { NO_RESPONSE, post } from '#services/webhooks/send.ts'
import { EXAMPLE_SUBSCRIPTION, SubscriptionId, TESTS_PER_MINUTE } from './wire.ts'

const WINDOW_SECONDS = 60

/**
 * Sends one signed event of the subscription's type with `data.test`, without retries, even while it is paused. Only its creator, an
 * admin or an owner can do this.
 */
export default operation({
  id: 'event_subscriptions.test',
  scope: 'event_subscriptions:write',
  tier: 'share_export',
  input: Closed({ subscription_id: SubscriptionId }),
  output: Closed(
    {
      status: Choice(DELIVERY_STATUSES, { description: 'Result of the test: `delivered` if the endpoint returned 2xx' }),
      delivered: Type.Boolean({ description: 'Whether the endpoint returned 2xx' }),
      http_status: Nullable(Type.Integer({ description: 'HTTP status returned by the endpoint; null without a response' })),
      error: Nullable(Type.String({ description: 'Why the delivery failed; null if it succeeded' })),
      event_id: Type.String({ description: 'ID of the test event; not listed elsewhere' }),
      event_type: Type.String({ description: 'Event type' }),
    },
    { description: 'Result of the test delivery' },
  ),
  example: {
    input: { subscription_id: EXAMPLE_SUBSCRIPTION.id },
    output: {
      status: 'failed',
      delivered: false,
      http_status: null,
      error: NO_RESPONSE,
      event_id: '0199f2ca-3400-7b11-9c10-1f2e3d4c5b6a',
      event_type: 'item.created',
    },
  },
}).handle({
  async check({ db, principal, clock }, { subscription_id }) {
    const subscription = await subscriptions.requireChangeable(db, principal, requireOrganization(principal), subscription_id)
    const [count] = await rateWindows.countAll(
      db,
      [{ subject: `webhook-test:${subscription.organizationId}`, windowSeconds: WINDOW_SECONDS }],
      clock.now(),
    )
    if (count!.ordinal > TESTS_PER_MINUTE)
      throw problem('too-many-attempts', `Endpoints can be tested at most ${TESTS_PER_MINUTE} times per minute`, {
        headers: { 'Retry-After': String(WINDOW_SECONDS) },
      })
    return subscription
  },
  async prepare(context, _input, subscription) {
    const event = {
      id: newId(),
      type: subscription.eventType,
      organizationId: subscription.organizationId,
      entityType: eventType(subscription.eventType as EventType).entity_type,
      entityId: newId(),
      data: { test: true },
      occurredAt: context.clock.now(),
    }
    const signing = await subscriptions.signing(context.db, subscription.id, context.clock.now())
    return { event, ...(await post(context, { ...signing, event })) }
  },
  async execute(_context, _input, _subscription, { event, attempt, isDelivered }) {
    return {
      status: isDelivered ? ('delivered' as const) : ('failed' as const),
      delivered: isDelivered,
      http_status: attempt.httpStatus,
      error: attempt.error,
      event_id: event.id,
      event_type: event.type,
    }
  },
})
