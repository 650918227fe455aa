import * as notifications from '#model/events/notification.ts'
import { notificationMail } from '#services/mail/mail-templates.ts'
import type { TaskContext } from '#task.ts'

/** People at a time, and rounds of them: the rest waits for the next run. */
const PEOPLE = 20
const MAX_ROUNDS = 100

/** Mails what has gathered to those who chose this way. News whose mail cannot be sent wait for the next run, which begins with them. */
export async function mailNews({ db, clock, mail, baseUrl, signal }: TaskContext, choice: 'instant' | 'daily'): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS && !signal.aborted; round++) {
    const mails = await notifications.takeMails(db, choice, PEOPLE, clock.now())
    const failed: { ids: string[]; error: unknown }[] = []
    for (const { ids, news, ...to } of mails)
      if (news.length > 0) await mail.send(notificationMail(to, news, `${baseUrl}/`)).catch((error: unknown) => failed.push({ ids, error }))
    for (const { ids } of failed) await notifications.markUnsent(db, ids)
    if (failed.length > 0) throw failed[0]!.error
    if (mails.length < PEOPLE) return
  }
}
