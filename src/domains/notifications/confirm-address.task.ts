import * as mailTokens from '#model/identity/mail-token.ts'
import { confirmAddressTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import { confirmAddressMail } from '#services/mail/mail-templates.ts'
import { task } from '#task.ts'

/** Asks a new person to confirm their address. */
export default task({ ...confirmAddressTask, retryLimit: 5 }).handle(async ({ db, clock, mail, baseUrl }, { user_id }) => {
  const found = await users.find(db, user_id)
  if (!found?.isActive) return
  const token = await mailTokens.issue(db, found, 'confirm', clock.now())
  await mail.send(confirmAddressMail(found, `${baseUrl}/confirm#token=${token}`))
})
