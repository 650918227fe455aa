import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import { mailNews } from './mail.lib.ts'

/** Mails new notifications to who wants them at once. */
export default task({ name: 'notifications.mail_now', data: Closed({}), schedule: '* * * * *', retryLimit: 0 }).handle(async (context) => {
  await mailNews(context, 'instant')
})
