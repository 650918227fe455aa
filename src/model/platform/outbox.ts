import { sql } from 'kysely'
import { newId } from '#core/ids.ts'
import { eventType, type EventType } from '#core/event-types.ts'
import type { Tx } from '#db/tables.ts'

export interface PendingEvent {
  type: EventType
  entityId: string
  data: Record<string, unknown>
}

/**
 * Writes the events of one invocation in its transaction: they are facts from the moment the change is one. One statement
 * of one text, however many there are.
 */
export async function write(
  tx: Tx,
  organizationId: string,
  invocationId: string,
  events: readonly PendingEvent[],
  now: Date,
): Promise<void> {
  if (events.length === 0) return
  await sql`
    insert into event (id, org_id, type, entity_type, entity_id, data, invocation_id, occurred_at)
    select id, ${organizationId}, type, entity_type, entity_id, data, ${invocationId}, ${now}
    from unnest(
      ${events.map(() => newId())}::uuid[], ${events.map(({ type }) => type)}::text[],
        ${events.map(({ type }) => eventType(type).entity_type)}::text[],
      ${events.map(({ entityId }) => entityId)}::text[], ${events.map(({ data }) => JSON.stringify(data))}::jsonb[]
    ) with ordinality as e (id, type, entity_type, entity_id, data, nth)
    order by nth
  `.execute(tx)
}
