/** Tasks for emails with a token. The handler creates the token, so that the queue never contains one. */
import { Closed, Email, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

export const confirmAddressTask = taskContract('notifications.confirm_address', Closed({ user_id: Uuid }))
export const inviteTask = taskContract('notifications.invite', Closed({ invitation_id: Uuid }))
export const resetPasswordTask = taskContract('notifications.reset_password', Closed({ email: Email }))
