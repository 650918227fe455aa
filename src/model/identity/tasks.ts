/** Mails that bring a token: the token is made when the mail is, so that none lies in the queue. */
import { Closed, Email, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

export const confirmAddressTask = taskContract('notifications.confirm_address', Closed({ user_id: Uuid }))
export const inviteTask = taskContract('notifications.invite', Closed({ invitation_id: Uuid }))
export const resetPasswordTask = taskContract('notifications.reset_password', Closed({ email: Email }))
