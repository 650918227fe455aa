import { Closed } from '#core/shapes.ts'
import { task } from '#task.ts'
import * as invitations from '#model/identity/invitation.ts'

/** Closes expired invitations, so that lists are accurate and the address can be invited again. */
export default task({ name: 'organizations.expire_invitations', data: Closed({}), schedule: '7 * * * *' }).handle(async ({ db, clock }) => {
  await invitations.expire(db, clock.now())
})
