import { eventType } from '#core/event-types.ts'
import type { Tx } from '#db/tables.ts'
import * as outbox from '#model/platform/outbox.ts'
import type { Events } from '#effects.ts'
import type { Contract } from '#operation.ts'
import { validatorOf } from '#core/validate.ts'

interface PendingEvents {
  events: Events
  write(tx: Tx, call: { organizationId: string | null; invocationId: string; now: Date }): Promise<void>
}

/** Collects the events that `execute` emits: only declared types, and only data that matches the schema of its type. */
export function openEvents(op: Pick<Contract, 'events'> & { id: string }): PendingEvents {
  const pending: outbox.PendingEvent[] = []
  return {
    events: {
      emit(type, entityId, data) {
        if (!op.events?.includes(type)) throw new Error(`${op.id} emitted ${type}, which it does not declare`)
        const validator = validatorOf(eventType(type).data_schema)
        if (!validator.Check(data))
          throw new Error(`${op.id} emitted ${type} with data that breaks its schema: ${JSON.stringify(validator.Errors(data)[0])}`)
        pending.push({ type, entityId, data })
      },
    },
    async write(tx, { organizationId, invocationId, now }) {
      if (pending.length === 0) return
      if (!organizationId) throw new Error(`${op.id} emitted events that belong to no organization`)
      await outbox.write(tx, organizationId, invocationId, pending, now)
    },
  }
}
