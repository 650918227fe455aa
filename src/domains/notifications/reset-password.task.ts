import * as mailTokens from '#model/identity/mail-token.ts'
import { resetPasswordTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import { passwordResetMail } from '#services/mail/mail-templates.ts'
import { task } from '#task.ts'

/** Sends the link to a new password, if the address is anybody's. */
export default task({ ...resetPasswordTask, retryLimit: 3 }).handle(async ({ db, clock, mail, baseUrl }, { email }) => {
  const found = await users.findByEmail(db, email)
  if (!found?.user.isActive) return
  const token = await mailTokens.issue(db, found.user, 'reset', clock.now())
  await mail.send(passwordResetMail(found.user, `${baseUrl}/reset#token=${token}`))
})
