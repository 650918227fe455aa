import * as mailTokens from '#model/identity/mail-token.ts'
import { resetPasswordTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import { passwordResetMail } from '#services/mail/mail-templates.ts'
import { task } from '#task.ts'

/** Emails a password reset link, if an active account has the address. */
export default task({ ...resetPasswordTask, retryLimit: 3 }).handle(async ({ db, clock, mail, baseUrl }, { email }) => {
  const account = await users.findByEmail(db, email)
  if (!account?.user.isActive) return
  const token = await mailTokens.issue(db, account.user, 'reset', clock.now())
  await mail.send(passwordResetMail(account.user, `${baseUrl}/reset#token=${token}`))
})
