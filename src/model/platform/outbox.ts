import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { eventType, type EventType } from '#core/event-types.ts'
import { copyInto } from '#db/copy.ts'
import type { Tx } from '#db/tables.ts'
import * as alertEvaluations from '#model/events/alert-evaluation.ts'
import { mayRead, RIGHTS } from '#model/events/audience.ts'
import * as deliveries from '#model/events/delivery.ts'
import * as notices from '#model/events/notice.ts'
import * as traceLinks from './trace-link.ts'

export interface PendingEvent {
  type: EventType
  entityId: string
  data: Record<string, unknown>
}

/**
 * Writes the events of one invocation to the outbox, in its transaction. The same statement queues a delivery for each matching active
 * subscription and an evaluation for each alert rule that watches, so that neither can be lost. Deliveries that exceed the
 * organization's queue wait in the backlog, one row per event. The statement's text does not depend on the number of events. Many events
 * that nobody waits for, such as those of an import, are copied instead.
 */
export async function write(
  tx: Tx,
  organizationId: string,
  invocationId: string,
  events: readonly PendingEvent[],
  now: Date,
): Promise<void> {
  if (events.length === 0) return
  const ids = events.map(() => newId())
  if (events.length < COPY_FROM || (await areWatched(tx, organizationId, events)))
    await insertWatched(tx, { organizationId, invocationId, now }, events, ids)
  else await copyUnwatched(tx, { organizationId, invocationId, now }, events, ids)
  await traceLinks.write(tx, ids)
  const updated = events.filter(({ type }) => type === 'item.updated').map(({ entityId }) => entityId)
  if (updated.length > 0) await alertEvaluations.wake(tx, organizationId, updated, now)
  await notices.notifyAbout(tx, organizationId, events, now)
}

interface Invocation {
  organizationId: string
  invocationId: string
  now: Date
}

/** Below this, asking first costs more than it saves. */
const COPY_FROM = 100

/** Whether a subscription or an alert rule waits for such events, whoever may read them. */
async function areWatched(tx: Tx, organizationId: string, events: readonly PendingEvent[]): Promise<boolean> {
  const types = [...new Set(events.map(({ type }) => type))]
  const { rows } = await sql<{ isWatched: boolean }>`
    select exists (select from event_subscription w where w.org_id = ${organizationId} and w.is_active
        and w.event_type = any(${types}::text[]))
      or exists (select from alert_rule w where w.org_id = ${organizationId} and w.is_active
        and w.event_types && ${types}::text[]) as "isWatched"
  `.execute(tx)
  return rows[0]!.isWatched
}

const EVENT_COLUMNS = 'id org_id project_id type entity_type entity_id data invocation_id occurred_at'

/** Many events of an import: nobody needs to be matched with them. */
async function copyUnwatched(
  tx: Tx,
  { organizationId, invocationId, now }: Invocation,
  events: readonly PendingEvent[],
  ids: readonly string[],
): Promise<void> {
  const rows = events.map((event, nth) => [
    ids[nth]!,
    organizationId,
    projectOf(event),
    event.type,
    eventType(event.type).entity_type,
    event.entityId,
    JSON.stringify(event.data),
    invocationId,
    now,
  ])
  await copyInto(tx, 'event', EVENT_COLUMNS, rows)
}

async function insertWatched(
  tx: Tx,
  { organizationId, invocationId, now }: Invocation,
  events: readonly PendingEvent[],
  ids: readonly string[],
): Promise<void> {
  await sql`
    with e as (
      insert into event (id, org_id, project_id, type, entity_type, entity_id, data, invocation_id, occurred_at)
      select id, ${organizationId}, project_id, type, entity_type, entity_id, data, ${invocationId}, ${now}
      from unnest(
        ${ids}::uuid[], ${events.map(projectOf)}::uuid[], ${events.map(({ type }) => type)}::text[],
        ${events.map(({ type }) => eventType(type).entity_type)}::text[],
        ${events.map(({ entityId }) => entityId)}::text[], ${events.map(({ data }) => JSON.stringify(data))}::jsonb[]
      ) with ordinality as e (id, project_id, type, entity_type, entity_id, data, nth)
      order by nth
      returning seq, project_id, type, entity_type, entity_id, data
    ), matched as materialized (
      select e.seq, w.id, w.endpoint_key
      from e join event_subscription w on w.org_id = ${organizationId} and w.event_type = e.type and w.is_active
      ${RIGHTS}
      where ${mayRead} and ${MATCHES}
        and (e.type <> 'alert.triggered' or e.data -> 'notification_channels' ? 'webhook')
      for key share of w -- As a foreign key would: no delivery is queued for a subscription that is being deleted.
    ), counted as materialized (
      select seq, array_agg(id) as ids, sum(count(*)) over (order by seq) as up_to from matched group by seq
    ), room as materialized (
      select ${deliveries.queueCapacity(organizationId)} as free where exists (select from matched)
    ), deliveries as (
      insert into webhook_delivery (subscription_id, event_seq, endpoint_key, since, due_at, created_at)
      select m.id, m.seq, m.endpoint_key, ${now}, ${now}, ${now}
      from matched m join counted c on c.seq = m.seq cross join room where c.up_to <= room.free
    ), backlog as (
      insert into webhook_backlog (org_id, event_seq, subscription_ids, created_at)
      select ${organizationId}, c.seq, c.ids, ${now} from counted c cross join room where c.up_to > room.free
    )
    insert into alert_evaluation (rule_id, org_id, item_id, due_at, created_at)
    select distinct w.id, w.org_id, e.entity_id, ${now}::timestamptz, ${now}::timestamptz
    from e join alert_rule w on w.org_id = ${organizationId} and w.is_active and e.type = any(w.event_types)
      and (w.collection_id is null or w.collection_id::text = e.data ->> 'collection_id')
    ${RIGHTS}
    where e.entity_type = 'item' and ${mayRead}
    on conflict (rule_id, item_id) do update set due_at = excluded.due_at, version = alert_evaluation.version + 1, tries = 0
  `.execute(tx)
}

/** The project of an event; only its readers receive the event. */
function projectOf({ type, entityId, data }: PendingEvent): string | null {
  if (eventType(type).entity_type === 'project') return entityId
  return typeof data['project_id'] === 'string' ? data['project_id'] : null
}

/**
 * Every key of the filter must match: its value equals the event's or is a list that contains it; a missing value counts as null.
 * Values are scalars (`subscription.requireFilter` checks it), so that containment is equality.
 */
const MATCHES = sql<boolean>`not exists (
  select from jsonb_each(w.filter_config) as f (path, wanted),
    lateral (select coalesce(jsonb_build_object('entity_type', e.entity_type, 'entity_id', e.entity_id, 'data', e.data)
      #> string_to_array(f.path, '.'), 'null') as found) as v
  where not case jsonb_typeof(f.wanted)
    when 'array' then jsonb_typeof(v.found) not in ('array', 'object') and f.wanted @> jsonb_build_array(v.found)
    else f.wanted = v.found end
)`
