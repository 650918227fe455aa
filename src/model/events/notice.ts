/** Notifications about events, for owners and admins, who can read every project. */
import type { EventType } from '#core/event-types.ts'
import { audOf } from '#core/money.ts'
import type { Tx } from '#db/tables.ts'
import { notify, type NewNotification } from './notification.ts'

interface EmittedEvent {
  type: EventType
  entityId: string
  data: Record<string, unknown>
}

export async function notifyAbout(tx: Tx, organizationId: string, events: readonly EmittedEvent[], now: Date): Promise<void> {
  const orderNames = await namesOfOrders(tx, organizationId, events)
  const news = events.flatMap((event) => newsOf(event, orderNames, now))
  const first = new Map(news.map((entry) => [entry.dedupeKey, entry]))
  await notify(tx, organizationId, 'admins', [...first.values()], now)
}

const NAMES_ITS_ORDER: readonly EventType[] = ['feasibility.answered', 'quotation.requested']

/** Notifications name an order as its users do, but events only contain its ID. */
async function namesOfOrders(tx: Tx, organizationId: string, events: readonly EmittedEvent[]): Promise<ReadonlyMap<string, string>> {
  const ids = events.filter(({ type }) => NAMES_ITS_ORDER.includes(type)).map(({ data }) => String(data['order_id']))
  if (ids.length === 0) return new Map()
  const rows = await tx
    .selectFrom('imagery_order')
    .select(['id', 'display_name as name'])
    .where('org_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

function newsOf({ type, entityId, data }: EmittedEvent, orderNames: ReadonlyMap<string, string>, now: Date): NewNotification[] {
  const order = `'${orderNames.get(String(data['order_id']))}'`
  switch (type) {
    case 'topup.failed':
      return [
        {
          kind: 'payment',
          title: data['automatic'] ? 'Automatic top-up failed' : 'Top-up failed',
          body:
            `The card payment of A$${audOf(Number(data['aud_cents'])).toFixed(2)} failed` +
            `${because(data['reason'])}. Nothing was charged.`,
          dedupeKey: `topup:${entityId}`,
        },
      ]
    case 'feasibility.answered':
      return [
        {
          kind: 'decision',
          title: 'Feasibility study ready for your decision',
          body: `The feasibility study for ${order} has ${Number(data['option_count'])} options to choose from.`,
          dedupeKey: `feasibility:${entityId}`,
        },
      ]
    case 'quotation.requested':
      return [
        {
          kind: 'decision',
          title: `Quotation requested for ${order}`,
          body: 'You can accept or reject the quotation when the vendor has sent its price.',
          dedupeKey: `quotation:${entityId}`,
        },
      ]
    case 'item.updated':
      return data['lifecycle_state'] === 'expiring' && data['previous_lifecycle_state'] !== 'expiring'
        ? [
            {
              kind: 'retention',
              title: 'Items expire soon',
              body: "The plan's retention ends soon for some items; items.list_expiring lists them. Upgrade the plan to keep them.",
              dedupeKey: `expiring:${String(data['project_id'])}:${now.toISOString().slice(0, 10)}`,
            },
          ]
        : []
    default:
      return []
  }
}

const because = (reason: unknown): string => (typeof reason === 'string' && reason ? `: ${reason}` : '')
