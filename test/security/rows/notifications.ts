import { newId } from '#core/ids.ts'
import type { Org, World } from '../../support/world.ts'
import { other } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { NOBODY } from '../statuses.ts'

/** In the inbox of the owner: nobody else finds it, keys of theirs neither. */
const notification = async (w: World, org: Org) => {
  const id = newId()
  await w.db
    .insertInto('notification')
    .values({ id, user_id: org.owner.id, org_id: org.id, kind: 'alert', title: 'x', body: 'x', created_at: w.clock.now() })
    .execute()
  return { notification_id: id }
}
const THEIRS = {
  a: `${NOBODY} | 200 404 404 404 | 404 404 | 403 404 403 | 403 404 404 404`,
  b: `${NOBODY} | 404 404 404 404 | 200 404 | 403 404 403 | 403 404 404 404`,
}
const EVERYBODYS = `${NOBODY} | 200 200 200 200 | 200 200 | 200 200 200 | 403 200 200 200`

export const rows: Rows = {
  'notifications.dismiss': {
    ...THEIRS,
    input: notification,
    missing: other('notification_id'),
    breaks: 'column notification.dismissed_at',
  },
  'notifications.list': { a: EVERYBODYS, input: () => ({}), breaks: 'table notification' },
  'notifications.mark_all_read': {
    a: `${NOBODY} | 200 200 200 200 | 200 200 | 403 200 403 | 403 200 200 200`,
    input: () => ({}),
    breaks: 'table notification',
  },
  'notifications.mark_read': { ...THEIRS, input: notification, missing: other('notification_id'), breaks: 'column notification.read_at' },
  'notifications.unread_count': { a: EVERYBODYS, input: () => ({}), breaks: 'table notification' },
}
