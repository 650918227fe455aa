import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import * as notifications from '#model/events/notification.ts'
import { operation } from '#operation.ts'

/** Marks all notifications in the inbox as read. */
export default operation({
  id: 'notifications.mark_all_read',
  scope: 'notifications:write',
  tier: 'compute',
  input: Closed({}),
  output: Closed(
    { marked_count: Type.Integer({ description: 'Number of notifications marked as read' }) },
    { description: 'Number of notifications marked as read' },
  ),
  example: { input: {}, output: { marked_count: 3 } },
}).handle({
  async execute({ tx, principal, clock }) {
    return { marked_count: principal.kind === 'user' ? await notifications.markAllRead(tx, principal.id, clock.now()) : 0 }
  },
})
