import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import { mailNotifications } from './mail.lib.ts'

/** Emails new notifications to users who chose immediate emails. */
export default task({ name: 'notifications.mail_now', data: Closed({}), schedule: '* * * * *', retryLimit: 0 }).handle(async (context) => {
  await mailNotifications(context, 'instant')
})
