/** Events that are news for people, and what their inboxes say of them: to owners and admins, who may read every project. */
import type { EventType } from '#core/event-types.ts'
import { audOf } from '#core/money.ts'
import type { Tx } from '#db/tables.ts'
import { tell, type News } from './notification.ts'

interface Told {
  type: EventType
  entityId: string
  data: Record<string, unknown>
}

export async function tellOf(tx: Tx, organizationId: string, events: readonly Told[], now: Date): Promise<void> {
  const news = events.flatMap((event) => newsOf(event, now))
  const first = new Map(news.map((entry) => [entry.dedupeKey, entry]))
  await tell(tx, organizationId, 'admins', [...first.values()], now)
}

function newsOf({ type, entityId, data }: Told, now: Date): News[] {
  switch (type) {
    case 'topup.failed':
      return [
        {
          kind: 'payment',
          title: data['automatic'] ? 'An automatic top-up failed' : 'A top-up failed',
          body:
            `The card payment of A$${audOf(Number(data['aud_cents'])).toFixed(2)} did not go through` +
            `${because(data['reason'])}. Nothing was charged.`,
          dedupeKey: `topup:${entityId}`,
        },
      ]
    case 'feasibility.answered':
      return [
        {
          kind: 'decision',
          title: 'A feasibility study waits for a decision',
          body: `The study of order ${String(data['order_id'])} has ${Number(data['option_count'])} options to choose from.`,
          dedupeKey: `feasibility:${entityId}`,
        },
      ]
    case 'quotation.requested':
      return [
        {
          kind: 'decision',
          title: 'A quotation was asked for',
          body: `The quotation of order ${String(data['order_id'])} waits for a decision once its price is there.`,
          dedupeKey: `quotation:${entityId}`,
        },
      ]
    case 'item.updated':
      return data['lifecycle_state'] === 'expiring' && data['previous_lifecycle_state'] !== 'expiring'
        ? [
            {
              kind: 'retention',
              title: 'Items are about to expire',
              body: 'The retention of the plan ends for some items soon; items.list_expiring names them. A larger plan keeps them.',
              dedupeKey: `expiring:${String(data['project_id'])}:${now.toISOString().slice(0, 10)}`,
            },
          ]
        : []
    default:
      return []
  }
}

const because = (reason: unknown): string => (typeof reason === 'string' && reason ? `: ${reason}` : '')
