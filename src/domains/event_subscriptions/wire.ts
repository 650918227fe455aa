import Type from 'typebox'
import { EVENT_TYPES } from '#core/event-types.ts'
import { Choice, Closed, FreeForm, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import { DELIVERY_STATES, DELIVERY_STATUSES } from '#core/vocabulary.ts'
import type { Delivery } from '#model/events/delivery.ts'
import type { Subscription } from '#model/events/subscription.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

/** Of the endpoints of one organization. */
export const TESTS_PER_MINUTE = 20

export const SubscriptionId = Type.String({ maxLength: 100, description: 'Id of the subscription' })
export const EventTypeName = Choice(
  EVENT_TYPES.map(({ type }) => type),
  { description: 'One of the types that `GET /v1/event-types` lists' },
)
export const EndpointUrl = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'Where events are posted to: an https address on the public internet, without user name and password',
})
export const FilterConfig = Type.With(FreeForm, {
  description:
    'Narrows what is delivered. Keys are `entity_type`, `entity_id` or paths such as `data.project_id`; all must match. ' +
    'A list means any of its values',
})
export const HeaderMap = Type.Record(Type.String(), Type.String(), {
  description: 'Headers that go with each delivery, for example the key of a gateway. Their values are never shown again',
})
export const Description = Nullable(Type.String({ maxLength: 2_000, description: 'What it is for, in your own words' }))

const FIELDS = {
  id: Type.String({ format: 'uuid', description: 'Id of the subscription' }),
  organization_id: Type.String({ format: 'uuid', description: 'The organization whose events it delivers' }),
  event_type: Type.String({ description: 'The one type of event that it delivers' }),
  endpoint_url: Type.String({ description: 'Where events are posted to' }),
  filter_config: FilterConfig,
  header_names: Type.Array(Type.String(), { description: 'Names of the headers that go with each delivery; never their values' }),
  description: Nullable(Type.String({ description: 'What it is for' })),
  is_active: Type.Boolean({ description: 'False while it is paused: events are then not queued, and what is queued waits' }),
  created_by: Nullable(Type.String({ format: 'uuid', description: 'The person who made it; null for a key' })),
  created_at: Type.With(Timestamp, { description: 'When it was made' }),
  updated_at: Type.With(Timestamp, { description: 'When it was changed last' }),
  last_delivery_at: Nullable(Type.With(Timestamp, { description: 'When a delivery was tried last' })),
  last_status: Nullable(Choice(DELIVERY_STATUSES, { description: 'What came of it' })),
  consecutive_failures: Type.Integer({ description: 'Attempts that failed since the last success' }),
}

const SIGNING_SECRET = Type.String({ description: 'Signs deliveries. Shown in this answer and never again' })

export const SubscriptionRecord = Closed(FIELDS, { $id: 'EventSubscription' })
export const NewSubscription = Closed({ ...FIELDS, signing_secret: SIGNING_SECRET }, { $id: 'NewEventSubscription' })
export const ChangedSubscription = Closed(
  {
    ...FIELDS,
    signing_secret: Type.Optional(SIGNING_SECRET),
    previous_secret_until: Type.Optional(Type.With(Timestamp, { description: 'Until then the former secret signs as well' })),
  },
  { $id: 'ChangedEventSubscription' },
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
    id: Type.String({ format: 'uuid', description: 'What `X-Svc-Delivery-ID` said' }),
    at: Type.With(Timestamp, { description: 'When it was sent' }),
    duration_ms: Type.Integer({ description: 'How long the endpoint took' }),
    http_status: Nullable(Type.Integer({ description: 'What it answered; null without an answer' })),
    error: Nullable(Type.String({ description: 'Why it counts as failed' })),
    response_start: Nullable(Type.String({ description: 'The beginning of the answer' })),
  },
  { $id: 'WebhookAttempt' },
)

export const DeliveryRecord = Closed(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the delivery' }),
    subscription_id: Type.With(Uuid, { description: 'The subscription that it belongs to' }),
    event_id: Type.With(Uuid, { description: 'The event; receivers recognize repeats by it' }),
    event_type: Type.String({ description: 'Its type' }),
    state: Choice(DELIVERY_STATES, {
      description: '`pending` until it succeeds, `held` while the subscription is paused, then `delivered` or `dead`',
    }),
    next_attempt_at: Nullable(Type.With(Timestamp, { description: 'When it is tried next; null when it has ended' })),
    created_at: Type.With(Timestamp, { description: 'When the event happened' }),
    ended_at: Nullable(Type.With(Timestamp, { description: 'When it was delivered or given up' })),
    reason: Nullable(Type.String({ description: 'Why it was given up' })),
    attempts: Type.Array(AttemptRecord, { description: 'Every attempt, oldest first' }),
  },
  { $id: 'WebhookDelivery' },
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
