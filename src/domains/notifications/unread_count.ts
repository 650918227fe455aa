import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as notifications from '#model/events/notification.ts'
import { operation } from '#operation.ts'

/** Counts notifications that are neither read nor dismissed. */
export default operation({
  id: 'notifications.unread_count',
  scope: 'notifications:read',
  tier: 'read',
  input: Closed({}),
  output: Closed({ count: Type.Integer({ description: 'Number of unread notifications' }) }),
  example: { input: {}, output: { count: 3 } },
}).handle({
  async execute({ db, principal }) {
    return { count: principal.kind === 'user' ? await notifications.unreadCount(db, principal.id) : 0 }
  },
})
