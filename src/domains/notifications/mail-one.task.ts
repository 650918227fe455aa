import * as notifications from '#model/events/notification.ts'
import { mailNotificationTask } from '#model/events/tasks.ts'
import { notificationMail } from '#services/mail/mail-templates.ts'
import { task } from '#task.ts'

/** Emails one notification that its user asked for, whatever they chose for the others. If it fails, it is tried again. */
export default task({ ...mailNotificationTask, retryLimit: 5 }).handle(async ({ db, clock, mail, baseUrl }, { user_id, dedupe_key }) => {
  const pending = await notifications.takeMail(db, user_id, dedupe_key, clock.now())
  if (!pending) return
  const { ids, news, ...to } = pending
  try {
    await mail.send(notificationMail(to, news, `${baseUrl}/`))
  } catch (error) {
    await notifications.markUnsent(db, ids)
    throw error
  }
})
