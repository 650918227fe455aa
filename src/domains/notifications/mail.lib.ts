import * as notifications from '#model/events/notification.ts'
import { notificationMail } from '#services/mail/mail-templates.ts'
import type { TaskContext } from '#task.ts'

/** Users per round; after the last round, the rest waits for the next run. */
const USERS_PER_ROUND = 20
const MAX_ROUNDS = 100

/** Emails pending notifications to users with this setting. If an email fails, the next run starts with its notifications. */
export async function mailNotifications({ db, clock, mail, baseUrl, signal }: TaskContext, choice: 'instant' | 'daily'): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS && !signal.aborted; round++) {
    const mails = await notifications.takeMails(db, choice, USERS_PER_ROUND, clock.now())
    const failed: { ids: string[]; error: unknown }[] = []
    for (const { ids, news, ...to } of mails)
      if (news.length > 0) await mail.send(notificationMail(to, news, `${baseUrl}/`)).catch((error: unknown) => failed.push({ ids, error }))
    for (const { ids } of failed) await notifications.markUnsent(db, ids)
    if (failed.length > 0) throw failed[0]!.error
    if (mails.length < USERS_PER_ROUND) return
  }
}
