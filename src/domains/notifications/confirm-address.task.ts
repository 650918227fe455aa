import * as mailTokens from '#model/identity/mail-token.ts'
import { confirmAddressTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import { confirmAddressMail } from '#services/mail/mail-templates.ts'
import { task } from '#task.ts'

/** Emails a new user the link that confirms their address. */
export default task({ ...confirmAddressTask, retryLimit: 5 }).handle(async ({ db, clock, mail, baseUrl }, { user_id }) => {
  const user = await users.find(db, user_id)
  if (!user?.isActive) return
  const token = await mailTokens.issue(db, user, 'confirm', clock.now())
  await mail.send(confirmAddressMail(user, `${baseUrl}/confirm#token=${token}`))
})
