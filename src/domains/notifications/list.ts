import Type from 'typebox'
import { Closed, Defaulted, Limit, Offset } from '#core/shapes.ts'
import * as notifications from '#model/events/notification.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_NOTIFICATION, NotificationRecord, toRecord } from './wire.ts'

/** Lists the user's inbox, newest first, without dismissed notifications. API keys have no inbox. */
export default operation({
  id: 'notifications.list',
  scope: 'notifications:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    unread_only: Defaulted(Type.Boolean({ description: 'Whether to list only unread notifications' }), false),
    limit: Limit(50, 200),
    offset: Offset,
  }),
  output: Type.Array(NotificationRecord, { description: 'Notifications, newest first' }),
  example: { input: { unread_only: true }, output: [EXAMPLE_NOTIFICATION] },
}).handle({
  async execute({ db, principal }, { unread_only, limit, offset }) {
    if (principal.kind !== 'user') return []
    return (await notifications.list(db, principal.id, { unreadOnly: unread_only, limit, offset })).map(toRecord)
  },
})
