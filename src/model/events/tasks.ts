/** Tasks of notifications; their handlers are in `domains/notifications`. */
import Type from 'typebox'
import { Closed, Uuid } from '#core/shapes.ts'
import { taskContract } from '#effects.ts'

export const mailNotificationTask = taskContract('notifications.mail_one', Closed({ user_id: Uuid, dedupe_key: Type.String() }))
