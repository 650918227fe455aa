import { Closed } from '#core/shapes.ts'
import * as notifications from '#model/events/notification.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_NOTIFICATION, NotificationId, NotificationRecord, toRecord } from './wire.ts'

/** Marks a notification as read. An already read notification is 404, like one that does not exist. */
export default operation({
  id: 'notifications.mark_read',
  scope: 'notifications:write',
  tier: 'compute',
  input: Closed({ notification_id: NotificationId }),
  output: NotificationRecord,
  example: {
    input: { notification_id: EXAMPLE_NOTIFICATION.id },
    output: { ...EXAMPLE_NOTIFICATION, read: true },
  },
}).handle({
  async execute({ tx, principal, clock }, { notification_id }) {
    const userId = principal.kind === 'user' ? principal.id : null
    return toRecord(await notifications.markRead(tx, userId, notification_id, clock.now()))
  },
})
