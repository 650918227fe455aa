import { Closed } from '#core/shapes.ts'
import { DAY_MS } from '#core/time.ts'
import * as mailTokens from '#model/identity/mail-token.ts'
import { task } from '#task.ts'
import { mailNews } from './mail.lib.ts'

/** Mails the day's notifications together to who wants them so, and forgets tokens that have run out. */
export default task({ name: 'notifications.mail_digest', data: Closed({}), schedule: '0 6 * * *' }).handle(async (context) => {
  await mailNews(context, 'daily')
  await mailTokens.sweep(context.db, new Date(context.clock.now().getTime() - DAY_MS))
})
