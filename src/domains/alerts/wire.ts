import Type from 'typebox'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { Choice, Closed, Described, Nullable, Timestamp } from '#core/shapes.ts'
import { ALERT_COMPARISONS } from '#core/vocabulary.ts'
import type { AlertEvent } from '#model/events/alert-event.ts'
import type { AlertRule } from '#model/events/alert-rule.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

const EVENT_TYPES = ['item.created', 'item.updated'] as const
const CHANNELS = ['webhook', 'in_app'] as const

export const RuleId = Type.String({ maxLength: 100, description: 'Alert rule ID' })

/** The terms of a rule as callers send them; terms.lib.ts checks the combinations. */
export const Terms = {
  name: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description: 'Rule name, shown in notifications' }),
  description: Type.String({ maxLength: 2_000, description: 'Description of the rule' }),
  collection_id: Type.String({ maxLength: 100, description: 'ID of the collection to watch; all items of the organization if omitted' }),
  event_types: Type.Array(Choice(EVENT_TYPES), {
    minItems: 1,
    maxItems: EVENT_TYPES.length,
    uniqueItems: true,
    description: 'Events that trigger an evaluation',
  }),
  expression: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'Band math expression whose mean over the image is compared; bands are `b1`, `b2`, … or names',
  }),
  comparison: Type.String({ maxLength: 20, description: 'Comparison: `lt`, `gt`, `eq` or `between`' }),
  threshold: Type.Number({ description: 'Threshold; the lower bound of `between`' }),
  threshold_upper: Type.Number({ description: 'Upper bound of `between`' }),
  asset_key: Type.String({ minLength: 1, maxLength: 200, description: 'Asset key of the raster to evaluate' }),
  band_mapping: Type.Record(Type.String(), Type.Integer({ minimum: 1, maximum: 64 }), {
    description: 'Band names for the expression, for example `{"nir": 4}`',
  }),
  aoi_geometry: Described(GeoJsonArea, 'Area to evaluate: GeoJSON Polygon or MultiPolygon'),
  notification_channels: Type.Array(Choice(CHANNELS), {
    minItems: 1,
    maxItems: CHANNELS.length,
    uniqueItems: true,
    description: "`webhook` delivers `alert.triggered` to event subscriptions, `in_app` notifies the rule's creator",
  }),
  cooldown_minutes: Type.Integer({
    minimum: 0,
    maximum: 525_600,
    description: 'Minutes to wait after the rule fires before it can fire again',
  }),
  active: Type.Boolean({ description: 'Whether the rule is active' }),
}

export const RuleRecord = Closed(
  {
    id: Type.String({ format: 'uuid', description: 'Alert rule ID' }),
    organization_id: Type.String({ format: 'uuid', description: 'ID of the organization whose items the rule watches' }),
    name: Type.String({ description: 'Rule name' }),
    description: Nullable(Type.String({ description: 'Description of the rule; null if none' })),
    collection_id: Nullable(Type.String({ description: 'ID of the watched collection; null for all items' })),
    event_types: Type.Array(Type.String(), { description: 'Events that trigger the rule' }),
    expression: Type.String({ description: 'Band math expression whose mean is compared' }),
    comparison: Choice(ALERT_COMPARISONS, { description: 'How the mean is compared with the threshold' }),
    threshold: Type.Number({ description: 'Threshold; the lower bound of `between`' }),
    threshold_upper: Nullable(Type.Number({ description: 'Upper bound of `between`; null for other comparisons' })),
    asset_key: Type.String({ description: 'Asset key of the raster to evaluate' }),
    band_mapping: Type.Record(Type.String(), Type.Integer(), { description: 'Band names for the expression' }),
    aoi_geometry: Nullable(Described(GeoJsonArea, 'Area to evaluate; null for the whole image')),
    notification_channels: Type.Array(Type.String(), { description: 'Notification channels' }),
    cooldown_minutes: Type.Integer({ description: 'Minutes to wait after the rule fires before it can fire again' }),
    active: Type.Boolean({ description: 'Whether the rule is active' }),
    last_triggered_at: Nullable(Described(Timestamp, 'Time the rule last fired; null if never')),
    last_error: Nullable(Type.String({ description: 'Why the last evaluation failed; null if it succeeded' })),
    last_error_at: Nullable(Described(Timestamp, 'Time of the last failed evaluation; null if it succeeded')),
    created_by: Nullable(Type.String({ format: 'uuid', description: 'User ID of the creator; null if created with an API key' })),
    created_at: Described(Timestamp, 'Time the rule was created'),
  },
  { $id: 'AlertRule', description: 'An alert rule' },
)

export function toRule(rule: AlertRule) {
  return {
    id: rule.id,
    organization_id: rule.organizationId,
    name: rule.name,
    description: rule.description,
    collection_id: rule.collectionId,
    event_types: rule.eventTypes,
    expression: rule.expression,
    comparison: rule.comparison,
    threshold: rule.threshold,
    threshold_upper: rule.thresholdUpper,
    asset_key: rule.assetKey,
    band_mapping: rule.bandMapping,
    aoi_geometry: rule.aoiGeometry,
    notification_channels: rule.notificationChannels,
    cooldown_minutes: rule.cooldownMinutes,
    active: rule.isActive,
    last_triggered_at: rule.lastTriggeredAt?.toISOString() ?? null,
    last_error: rule.lastError,
    last_error_at: rule.lastErrorAt?.toISOString() ?? null,
    created_by: rule.createdBy,
    created_at: rule.createdAt.toISOString(),
  }
}

export const EventRecord = Closed(
  {
    id: Type.String({ format: 'uuid', description: 'Alert event ID' }),
    rule_id: Type.String({ format: 'uuid', description: 'ID of the rule that fired' }),
    item_id: Type.String({ description: 'ID of the item the rule fired on' }),
    computed_value: Type.Number({ description: 'Computed mean' }),
    triggered_at: Described(Timestamp, 'Time the rule fired'),
    acknowledged: Type.Boolean({ description: 'Whether the event was acknowledged' }),
    acknowledged_at: Nullable(Described(Timestamp, 'Time of the acknowledgement; null if not acknowledged')),
  },
  { $id: 'AlertEvent', description: 'An alert event' },
)

export function toEvent(event: AlertEvent) {
  return {
    id: event.id,
    rule_id: event.ruleId,
    item_id: event.itemId,
    computed_value: event.computedValue,
    triggered_at: event.triggeredAt.toISOString(),
    acknowledged: event.acknowledgedAt !== null,
    acknowledged_at: event.acknowledgedAt?.toISOString() ?? null,
  }
}

/** For the reference. */
export const EXAMPLE_RULE = {
  id: '0199f2cc-7800-7f61-8a40-5c9d1e6f0a88',
  organization_id: EXAMPLE_IDS.organization,
  name: 'Bleaching',
  description: null,
  collection_id: null,
  event_types: ['item.created'],
  expression: '(b2-b1)/(b2+b1)',
  comparison: 'gt' as const,
  threshold: 0.4,
  threshold_upper: null,
  asset_key: 'data',
  band_mapping: {},
  aoi_geometry: null,
  notification_channels: ['in_app', 'webhook'],
  cooldown_minutes: 60,
  active: true,
  last_triggered_at: null,
  last_error: null,
  last_error_at: null,
  created_by: EXAMPLE_IDS.user,
  created_at: EXAMPLE_AT,
}
export const EXAMPLE_EVENT = {
  id: '0199f2cd-9a00-7a71-9b50-6d0e2f7a1b99',
  rule_id: EXAMPLE_RULE.id,
  item_id: EXAMPLE_IDS.item,
  computed_value: 0.42,
  triggered_at: '2026-03-02T04:00:02.000Z',
  acknowledged: false,
  acknowledged_at: null,
}
