import * as emailChanges from '#model/identity/email-change.ts'
import { changeEmailTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import { changeEmailMail } from '#services/mail/mail-templates.ts'
import { task } from '#task.ts'

/** Emails the new address of an account the link that confirms it. */
export default task({ ...changeEmailTask, retryLimit: 5 }).handle(async ({ db, mail, baseUrl }, { user_id, email }) => {
  const user = await users.find(db, user_id)
  const token = user?.isActive ? await emailChanges.issue(db, user.id, email) : null
  if (token !== null) await mail.send(changeEmailMail({ email, name: user!.name }, `${baseUrl}/change-email#token=${token}`))
})
