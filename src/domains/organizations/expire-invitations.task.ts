import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as invitations from '#model/identity/invitation.ts'

/** Closes invitations that nobody accepted in time, so that lists stay true and the address can be invited anew. */
export default task({ name: 'organizations.expire_invitations', data: Closed({}), schedule: '7 * * * *' }).handle(async ({ db, clock }) => {
  await invitations.expire(db, clock.now())
})
