/**
 * The events that the service emits, as data: one row and one schema per type. Events contain a short form of the entity's public
 * record, never secrets, tokens or presigned URLs, and geometry only as a bounding box.
 */
import Type, { type TProperties, type TSchema } from 'typebox'
import { Closed, Nullable, Timestamp } from './shapes.ts'

const Text = Type.String()
const MaybeText = Nullable(Type.String())
const Credits = Type.Integer()
const Bbox = Nullable(Type.Array(Type.Number(), { minItems: 4, maxItems: 4 }))

const order = (more: TProperties = {}) =>
  Closed({
    id: Text,
    project_id: Text,
    display_name: MaybeText,
    order_type: Text,
    billing_mode: Text,
    status: Text,
    previous_status: MaybeText,
    total_credits: Credits,
    created_at: Timestamp,
    ...more,
  })
const study = (more: TProperties = {}) =>
  Closed({ id: Text, order_id: Text, project_id: Text, decision: Text, created_at: Timestamp, expires_at: Nullable(Timestamp), ...more })
const quotation = (more: TProperties = {}) => study({ credits: Nullable(Credits), ...more })
const job = (more: TProperties = {}) =>
  Closed({ id: Text, project_id: Text, job_type: Text, status: Text, previous_status: MaybeText, created_at: Timestamp, ...more })
const item = (more: TProperties = {}) =>
  Closed({
    id: Text,
    project_id: Text,
    collection_id: MaybeText,
    name: Text,
    type: Text,
    datetime: Nullable(Timestamp),
    bbox: Bbox,
    lifecycle_state: Text,
    previous_lifecycle_state: MaybeText,
    created_at: Timestamp,
    ...more,
  })
const collection = (more: TProperties = {}) =>
  Closed({ id: Text, project_id: Text, name: Text, created_at: Timestamp, deleted_at: Nullable(Timestamp), ...more })
const topup = (more: TProperties = {}) =>
  Closed({
    id: Text,
    status: Text,
    aud_cents: Type.Integer(),
    credits: Credits,
    bonus_credits: Credits,
    automatic: Type.Boolean(),
    created_at: Timestamp,
    ...more,
  })
const wallet = (more: TProperties = {}) => Closed({ balance_credits: Credits, available_credits: Credits, ...more })
const card = Closed({ id: Text, brand: Text, last4: Text, is_default: Type.Boolean() })

interface EventTypeRow {
  readonly type: string
  readonly domain: string
  readonly entity_type: string
  readonly description: string
  readonly data_schema: TSchema
}

const row = <const T extends string>(type: T, entity_type: string, data_schema: TSchema, description: string) => ({
  type,
  entity_type,
  data_schema,
  description,
})

const DOMAINS = {
  Orders: [
    row('order.created', 'order', order(), 'An order was created.'),
    row('order.placed', 'order', order(), 'An order is funded and was sent to its supplier.'),
    row('order.being_fulfilled', 'order', order(), 'The supplier accepted the order; delivery is pending.'),
    row(
      'order.fulfilled',
      'order',
      order({ item_ids: Type.Array(Text), captured_credits: Credits }),
      'An order was delivered; its items are in the project.',
    ),
    row('order.failed', 'order', order({ reason: MaybeText }), 'An order failed and its reservation was released.'),
    row('order.cancelled', 'order', order({ released_credits: Credits }), 'An order was cancelled and its reservation was released.'),
  ],
  Tasking: [
    row('feasibility.requested', 'feasibility_study', study(), 'A feasibility study was requested from a supplier.'),
    row(
      'feasibility.answered',
      'feasibility_study',
      study({ option_count: Type.Integer() }),
      'A feasibility study has options to choose from.',
    ),
    row('quotation.requested', 'quotation', quotation(), 'A quotation was requested from a supplier.'),
    row('quotation.accepted', 'quotation', quotation(), 'A quotation was accepted and its price reserved.'),
    row('quotation.rejected', 'quotation', quotation(), 'A quotation was rejected; nothing is charged.'),
  ],
  'Processing jobs': [
    row('job.created', 'processing_job', job({ reserved_credits: Credits }), 'A job was created and its credits were reserved.'),
    row('job.started', 'processing_job', job(), 'A job started to run.'),
    row('job.captured', 'processing_job', job({ captured_credits: Credits }), 'The credits of a completed job were captured.'),
    row('job.released', 'processing_job', job({ released_credits: Credits }), 'The reservation of a job was released.'),
    row('job.completed', 'processing_job', job({ output_item_ids: Type.Array(Text) }), 'A job completed and its items were created.'),
    row('job.failed', 'processing_job', job({ reason: MaybeText }), 'A job failed.'),
  ],
  'Items and data': [
    row('item.created', 'item', item(), 'An item was added to a project.'),
    row('item.updated', 'item', item({ changed_fields: Type.Array(Text) }), 'An item was updated, by a caller or by retention.'),
    row('item.deleted', 'item', item({ deleted_at: Timestamp }), 'An item was deleted.'),
    row(
      'asset.deleted',
      'asset',
      Closed({ id: Text, item_id: Text, project_id: Text, key: Text, file_size_bytes: Nullable(Type.Integer()) }),
      'An asset of an item was deleted.',
    ),
    row(
      'upload.completed',
      'upload',
      Closed({
        id: Text,
        project_id: Text,
        item_ids: Type.Array(Text),
        file_count: Type.Integer(),
        total_bytes: Type.Integer(),
        completed_at: Timestamp,
      }),
      'An upload session was completed and its items were created.',
    ),
  ],
  'Collections and projects': [
    row('collection.created', 'collection', collection(), 'A collection was created.'),
    row('collection.updated', 'collection', collection(), 'A collection was updated; `deleted_at` is set if it was deleted.'),
    row(
      'project.created',
      'project',
      Closed({ id: Text, name: Text, visibility: Text, status: Text, created_at: Timestamp }),
      'A project was created.',
    ),
  ],
  Analytics: [
    row(
      'analytics.executed',
      'report',
      Closed({ id: Text, project_id: Type.Optional(MaybeText), operation: Text, item_ids: Type.Array(Text), created_at: Timestamp }),
      'An analytics method ran.',
    ),
  ],
  Billing: [
    row('topup.succeeded', 'topup', topup(), 'A card payment for credits succeeded.'),
    row(
      'credits.purchased',
      'organization',
      wallet({ credits: Credits, bonus_credits: Credits, topup_id: Text }),
      'Purchased credits were added to the wallet.',
    ),
    row('credits.low_balance', 'organization', wallet({ threshold_credits: Credits }), 'Available credits fell below the threshold.'),
    row('credits.depleted', 'organization', wallet(), 'Available credits reached zero.'),
    row('topup.failed', 'topup', topup({ reason: MaybeText }), 'A card payment for credits failed.'),
    row('payment_method.attached', 'payment_method', card, 'A card was saved.'),
    row('payment_method.detached', 'payment_method', card, 'A saved card was removed.'),
  ],
  'Saved searches': [
    row(
      'saved_search.matched',
      'saved_search',
      Closed({
        id: Text,
        project_id: Text,
        name: Text,
        mode: Text,
        count: Type.Integer(),
        scenes: Type.Array(Closed({ host_name: Text, id: Text })),
        item_ids: Type.Array(Text),
        job_ids: Type.Array(Text),
        matched_at: Timestamp,
      }),
      'A saved search added new scenes to its project, or found new scenes to report.',
    ),
  ],
  Alerts: [
    row(
      'alert.triggered',
      'alert_event',
      Closed({
        id: Text,
        rule_id: Text,
        rule_name: Text,
        project_id: Text,
        item_id: Text,
        expression: Text,
        comparison: Text,
        threshold: Type.Number(),
        threshold_upper: Nullable(Type.Number()),
        computed_value: Type.Number(),
        notification_channels: Type.Array(Text),
        triggered_at: Timestamp,
      }),
      'An alert rule fired on an item.',
    ),
  ],
} as const

type Domains = typeof DOMAINS
export type EventType = { [D in keyof Domains]: Domains[D][number]['type'] }[keyof Domains]

export const EVENT_TYPES: readonly EventTypeRow[] = Object.freeze(
  Object.entries(DOMAINS).flatMap(([domain, rows]) => rows.map((entry) => ({ domain, ...entry }))),
)

const byType = new Map(EVENT_TYPES.map((entry) => [entry.type, entry]))

export function eventType(type: EventType): EventTypeRow {
  return byType.get(type)!
}
