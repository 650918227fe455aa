import { Closed } from '#core/shapes.ts'
import { DAY_MS } from '#core/time.ts'
import * as mailTokens from '#model/identity/mail-token.ts'
import { task } from '#task.ts'
import { mailNotifications } from './mail.lib.ts'

/** Emails daily digests of notifications, and deletes expired email tokens. */
export default task({ name: 'notifications.mail_digest', data: Closed({}), schedule: '0 6 * * *' }).handle(async (context) => {
  await mailNotifications(context, 'daily')
  await mailTokens.sweep(context.db, new Date(context.clock.now().getTime() - DAY_MS))
})
