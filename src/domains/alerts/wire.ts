import Type from 'typebox'
import { Choice, Closed, FreeForm, Nullable, Timestamp } from '#core/shapes.ts'
import { ALERT_COMPARISONS } from '#core/vocabulary.ts'
import type { AlertEvent } from '#model/events/alert-event.ts'
import type { AlertRule } from '#model/events/alert-rule.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

const EVENT_TYPES = ['item.created', 'item.updated'] as const
const CHANNELS = ['webhook', 'in_app'] as const

export const RuleId = Type.String({ maxLength: 100, description: 'Id of the rule' })

/** The terms of a rule as a caller writes them; what is checked against each other is checked in terms.lib.ts. */
export const Terms = {
  name: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description: 'What people read in their inbox' }),
  description: Type.String({ maxLength: 2_000, description: 'What it watches for, in your own words' }),
  collection_id: Type.String({ maxLength: 100, description: 'Watch items of this collection alone; all of the organization without it' }),
  event_types: Type.Array(Choice(EVENT_TYPES), {
    minItems: 1,
    maxItems: EVENT_TYPES.length,
    uniqueItems: true,
    description: 'What makes the rule look at an item',
  }),
  expression: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'Band math whose mean over the image is compared; bands are `b1`, `b2` and so on, or names',
  }),
  comparison: Type.String({ maxLength: 20, description: 'One of `lt`, `gt`, `eq` and `between`' }),
  threshold: Type.Number({ description: 'What the mean is compared with; for `between` the lower end' }),
  threshold_upper: Type.Number({ description: 'For `between`, the upper end' }),
  asset_key: Type.String({ minLength: 1, maxLength: 200, description: 'The file of the item that is read' }),
  band_mapping: Type.Record(Type.String(), Type.Integer({ minimum: 1, maximum: 64 }), {
    description: 'Names that the expression may use for bands, for example `{"nir": 4}`',
  }),
  aoi_geometry: Type.With(FreeForm, { description: 'A GeoJSON Polygon or MultiPolygon: the mean is taken within it' }),
  notification_channels: Type.Array(Choice(CHANNELS), {
    minItems: 1,
    maxItems: CHANNELS.length,
    uniqueItems: true,
    description: '`webhook` tells subscriptions of `alert.triggered`, `in_app` the inbox of whoever made the rule',
  }),
  cooldown_minutes: Type.Integer({ minimum: 0, maximum: 525_600, description: 'For so long after it fired the rule keeps quiet' }),
  active: Type.Boolean({ description: 'Whether it watches' }),
}

export const RuleRecord = Closed(
  {
    id: Type.String({ format: 'uuid', description: 'Id of the rule' }),
    organization_id: Type.String({ format: 'uuid', description: 'The organization whose items it watches' }),
    name: Type.String({ description: 'Its name' }),
    description: Nullable(Type.String({ description: 'What it watches for' })),
    collection_id: Nullable(Type.String({ description: 'The collection that it watches; null for all' })),
    event_types: Type.Array(Type.String(), { description: 'What makes it look' }),
    expression: Type.String({ description: 'Band math whose mean is compared' }),
    comparison: Choice(ALERT_COMPARISONS, { description: 'How' }),
    threshold: Type.Number({ description: 'With what' }),
    threshold_upper: Nullable(Type.Number({ description: 'The upper end of `between`' })),
    asset_key: Type.String({ description: 'The file that is read' }),
    band_mapping: Type.Record(Type.String(), Type.Integer(), { description: 'Names for bands' }),
    aoi_geometry: Nullable(Type.With(FreeForm, { description: 'Where the mean is taken; null for the whole image' })),
    notification_channels: Type.Array(Type.String(), { description: 'Who is told' }),
    cooldown_minutes: Type.Integer({ description: 'How long it keeps quiet after it fired' }),
    active: Type.Boolean({ description: 'Whether it watches' }),
    last_triggered_at: Nullable(Type.With(Timestamp, { description: 'When it fired last' })),
    last_error: Nullable(Type.String({ description: 'Why it could not be evaluated last; null when it could' })),
    last_error_at: Nullable(Type.With(Timestamp, { description: 'When that was' })),
    created_by: Nullable(Type.String({ format: 'uuid', description: 'Who made it; null for a key' })),
    created_at: Type.With(Timestamp, { description: 'When it was made' }),
  },
  { $id: 'AlertRule' },
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
    id: Type.String({ format: 'uuid', description: 'Id of the alert event' }),
    rule_id: Type.String({ format: 'uuid', description: 'The rule that fired' }),
    item_id: Type.String({ description: 'The item that it fired on' }),
    computed_value: Type.Number({ description: 'The mean that was found' }),
    triggered_at: Type.With(Timestamp, { description: 'When it fired' }),
    acknowledged: Type.Boolean({ description: 'Whether somebody has taken note' }),
    acknowledged_at: Nullable(Type.With(Timestamp, { description: 'When' })),
  },
  { $id: 'AlertEvent' },
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
