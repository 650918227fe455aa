/** Tasks for emails about accounts. Handlers create the tokens in them, so that the queue never contains one. */
import Type from 'typebox'
import { ACCOUNT_NOTICES } from '#core/account-notice.ts'
import { Choice, Closed, Email, Nullable, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

export const accountNoticeTask = taskContract(
  'notifications.account_notice',
  Closed({ email: Email, name: Type.String(), notice: Choice(ACCOUNT_NOTICES), detail: Nullable(Type.String()) }),
)
export const changeEmailTask = taskContract('notifications.change_email', Closed({ user_id: Uuid, email: Email }))
export const confirmAddressTask = taskContract('notifications.confirm_address', Closed({ user_id: Uuid }))
export const inviteTask = taskContract('notifications.invite', Closed({ invitation_id: Uuid }))
export const resetPasswordTask = taskContract('notifications.reset_password', Closed({ email: Email }))
