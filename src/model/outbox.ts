import { newId } from '#core/ids.ts'
import { eventType, type EventType } from '#core/event-types.ts'
import type { Tx } from '#db/tables.ts'

export interface PendingEvent {
  type: EventType
  entityId: string
  data: Record<string, unknown>
}

/** Writes the events of one invocation in its transaction: they are facts from the moment the change is one. */
export async function write(tx: Tx, organizationId: string, invocationId: string, events: readonly PendingEvent[], now: Date): Promise<void> {
  if (events.length === 0) return
  await tx
    .insertInto('event')
    .values(events.map(({ type, entityId, data }) => ({ id: newId(), org_id: organizationId, type, entity_type: eventType(type).entity_type, entity_id: entityId, data: JSON.stringify(data), invocation_id: invocationId, occurred_at: now })))
    .execute()
}
