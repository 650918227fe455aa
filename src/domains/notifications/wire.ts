import Type from 'typebox'
import { Choice, Closed, Described, Timestamp } from '#core/shapes.ts'
import { NOTIFICATION_KINDS } from '#core/vocabulary.ts'
import type { Notification } from '#model/events/notification.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

export const NotificationId = Type.String({ maxLength: 100, description: 'Notification ID' })

export const NotificationRecord = Closed(
  {
    id: Type.String({ format: 'uuid', description: 'Notification ID' }),
    organization_id: Type.String({ format: 'uuid', description: 'ID of the organization the notification concerns' }),
    kind: Choice(NOTIFICATION_KINDS, { description: 'Notification kind' }),
    title: Type.String({ description: 'Notification title' }),
    body: Type.String({ description: 'Notification text' }),
    read: Type.Boolean({ description: 'Whether the notification was read' }),
    dismissed: Type.Boolean({ description: 'Whether the notification was dismissed' }),
    created_at: Described(Timestamp, 'Time of the event'),
  },
  { $id: 'Notification', description: 'A notification' },
)

export function toRecord(notification: Notification) {
  return {
    id: notification.id,
    organization_id: notification.organizationId,
    kind: notification.kind,
    title: notification.title,
    body: notification.body,
    read: notification.readAt !== null,
    dismissed: notification.dismissedAt !== null,
    created_at: notification.createdAt.toISOString(),
  }
}

/** For the reference. */
export const EXAMPLE_NOTIFICATION = {
  id: '0199f2cb-5600-7e51-9f30-4b8c0d5e9f77',
  organization_id: EXAMPLE_IDS.organization,
  kind: 'alert' as const,
  title: 'Alert: bleaching',
  body: 'mean of (b2-b1)/(b2+b1) is 0.42, above 0.4, on Sentinel-2B, 14 February 2026',
  read: false,
  dismissed: false,
  created_at: '2026-03-02T04:00:02.000Z',
}
