import Type from 'typebox'
import { EVENT_TYPES } from '#core/event-types.ts'
import { Choice, Closed, Described, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { DELIVERY_STATES, DELIVERY_STATUSES } from '#core/vocabulary.ts'
import type { Delivery } from '#model/events/delivery.ts'
import type { Subscription } from '#model/events/subscription.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

/** Rate limit of an organization, over all its endpoints. */
export const TESTS_PER_MINUTE = 20

export const SubscriptionId = Type.String({ maxLength: 100, description: 'Event subscription ID' })
export const EventTypeName = Choice(
  EVENT_TYPES.map(({ type }) => type),
  { description: 'Event type from `GET /v1/event-types`' },
)
export const EndpointUrl = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'HTTPS URL that receives events; must be public and without credentials',
})
export const FilterConfig = Described(
  FreeForm,
  'Conditions that an event must meet to be delivered. Keys are `entity_type`, `entity_id` or paths such as `data.project_id`; ' +
    'all must match. A list matches any of its values',
)
export const HeaderMap = Type.Record(Type.String(), Type.String(), {
  description: 'Headers to send with each delivery, such as a gateway key; values are never returned',
})
export const Description = Nullable(Type.String({ maxLength: 2_000, description: 'Description of the subscription' }))

const FIELDS = {
  id: Type.String({ format: 'uuid', description: 'Event subscription ID' }),
  organization_id: Type.String({ format: 'uuid', description: 'ID of the organization whose events are delivered' }),
  event_type: Type.String({ description: 'Event type that is delivered' }),
  endpoint_url: Type.String({ description: 'URL that receives events' }),
  filter_config: FilterConfig,
  header_names: Type.Array(Type.String(), { description: 'Names of the headers sent with each delivery' }),
  description: Nullable(Type.String({ description: 'Description of the subscription; null if none' })),
  is_active: Type.Boolean({ description: 'Whether deliveries are on; while paused, new events are not queued and queued deliveries wait' }),
  created_by: Nullable(Type.String({ format: 'uuid', description: 'User ID of the creator; null if created with an API key' })),
  created_at: Described(Timestamp, 'Time the subscription was created'),
  updated_at: Described(Timestamp, 'Time of the last change'),
  last_delivery_at: Nullable(Described(Timestamp, 'Time of the last delivery attempt; null if never attempted')),
  last_status: Nullable(Choice(DELIVERY_STATUSES, { description: 'Status of the last delivery attempt; null if never attempted' })),
  consecutive_failures: Type.Integer({ description: 'Number of failed attempts since the last success' }),
}

const SIGNING_SECRET = Type.String({ description: 'Secret that signs deliveries; shown only in this response' })

export const SubscriptionRecord = Closed(FIELDS, { $id: 'EventSubscription', description: 'An event subscription' })
export const NewSubscription = Closed(
  { ...FIELDS, signing_secret: SIGNING_SECRET },
  { $id: 'NewEventSubscription', description: 'A new event subscription, with its signing secret' },
)
export const ChangedSubscription = Closed(
  {
    ...FIELDS,
    signing_secret: Type.Optional(SIGNING_SECRET),
    previous_secret_until: Type.Optional(Described(Timestamp, 'Time until which the previous secret also signs deliveries')),
  },
  { $id: 'ChangedEventSubscription', description: 'An event subscription, with the new secret if it was replaced' },
)

export function toRecord(subscription: Subscription) {
  return {
    id: subscription.id,
    organization_id: subscription.organizationId,
    event_type: subscription.eventType,
    endpoint_url: subscription.endpointUrl,
    filter_config: subscription.filterConfig,
    header_names: Object.keys(subscription.headers),
    description: subscription.description,
    is_active: subscription.isActive,
    created_by: subscription.createdBy,
    created_at: subscription.createdAt.toISOString(),
    updated_at: subscription.updatedAt.toISOString(),
    last_delivery_at: subscription.lastDeliveryAt?.toISOString() ?? null,
    last_status: subscription.lastStatus,
    consecutive_failures: subscription.consecutiveFailures,
  }
}

const AttemptRecord = Closed(
  {
    id: Type.String({ format: 'uuid', description: 'Attempt ID, as sent in the `X-Svc-Delivery-ID` header' }),
    at: Described(Timestamp, 'Time the attempt was sent'),
    duration_ms: Type.Integer({ description: 'Response time in milliseconds' }),
    http_status: Nullable(Type.Integer({ description: 'HTTP status returned by the endpoint; null without a response' })),
    error: Nullable(Type.String({ description: 'Why the delivery failed; null if it succeeded' })),
    response_start: Nullable(Type.String({ description: 'Start of the response body; null without a response' })),
  },
  { $id: 'WebhookAttempt', description: 'A delivery attempt' },
)

export const DeliveryRecord = Closed(
  {
    id: Type.String({ format: 'uuid', description: 'Delivery ID' }),
    subscription_id: Described(Uuid, 'Event subscription ID'),
    event_id: Described(Uuid, 'Event ID; the same for repeated deliveries'),
    event_type: Type.String({ description: 'Event type' }),
    state: Choice(DELIVERY_STATES, {
      description: 'Delivery state: `pending` until it succeeds, `held` while the subscription is paused, then `delivered` or `dead`',
    }),
    next_attempt_at: Nullable(Described(Timestamp, 'Time of the next attempt; null once ended')),
    created_at: Described(Timestamp, 'Time of the event'),
    ended_at: Nullable(Described(Timestamp, 'Time of delivery or of the last attempt; null while pending')),
    reason: Nullable(Type.String({ description: 'Why delivery was abandoned; null if it was not' })),
    attempts: Type.Array(AttemptRecord, { description: 'Delivery attempts, oldest first' }),
  },
  { $id: 'WebhookDelivery', description: 'Delivery of an event to a subscription' },
)

export function toDelivery(delivery: Delivery) {
  return {
    id: delivery.id,
    subscription_id: delivery.subscriptionId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    state: delivery.state,
    next_attempt_at: delivery.endedAt ? null : delivery.dueAt.toISOString(),
    created_at: delivery.createdAt.toISOString(),
    ended_at: delivery.endedAt?.toISOString() ?? null,
    reason: delivery.reason,
    attempts: delivery.attempts.map((attempt) => ({
      id: attempt.id,
      at: attempt.at.toISOString(),
      duration_ms: attempt.durationMs,
      http_status: attempt.httpStatus,
      error: attempt.error,
      response_start: attempt.responseStart,
    })),
  }
}

/** For the reference. */
export const EXAMPLE_SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEXAMPLE='
export const EXAMPLE_SUBSCRIPTION = {
  id: '0199f2ca-1200-7d41-8e20-3a7b9c4d8f66',
  organization_id: EXAMPLE_IDS.organization,
  event_type: 'item.created',
  endpoint_url: 'https://hooks.example/imagery',
  filter_config: { 'data.project_id': EXAMPLE_IDS.project },
  header_names: [] as string[],
  description: 'New scenes of the reef',
  is_active: true,
  created_by: EXAMPLE_IDS.user,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
  last_delivery_at: '2026-03-02T04:00:01.000Z',
  last_status: 'delivered' as const,
  consecutive_failures: 0,
}
export const EXAMPLE_DELIVERY = {
  id: '5b0c3f5e-9a51-4c0e-8d2b-7e6f5a4b3c2d',
  subscription_id: EXAMPLE_SUBSCRIPTION.id,
  event_id: '0199f2ca-3400-7b11-9c10-1f2e3d4c5b6a',
  event_type: 'item.created',
  state: 'delivered' as const,
  next_attempt_at: null,
  created_at: '2026-03-02T04:00:00.000Z',
  ended_at: '2026-03-02T04:00:01.000Z',
  reason: null,
  attempts: [
    {
      id: '0199f2ca-3401-7c22-8d20-2a3b4c5d6e7f',
      at: '2026-03-02T04:00:00.900Z',
      duration_ms: 84,
      http_status: 204,
      error: null,
      response_start: '',
    },
  ],
}
