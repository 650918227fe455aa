import { accountNoticeTask } from '#model/identity/tasks.ts'
import { accountNoticeMail } from '#services/mail/mail-templates.ts'
import { task } from '#task.ts'

/** Emails the owner of an account what has changed about it. */
export default task({ ...accountNoticeTask, retryLimit: 5 }).handle(async ({ mail, baseUrl }, { email, name, notice, detail }) => {
  await mail.send(accountNoticeMail({ email, name }, notice, { detail, url: `${baseUrl}/app/account` }))
})
