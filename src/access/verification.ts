/** The first proof that someone reads the mail of an account's address. */
import type { Tx } from '#db/tables.ts'
import * as notification from '#model/events/notification.ts'
import * as subscription from '#model/events/subscription.ts'
import * as apiKey from '#model/identity/api-key.ts'
import * as invitation from '#model/identity/invitation.ts'
import * as mailToken from '#model/identity/mail-token.ts'
import * as session from '#model/identity/session.ts'
import * as user from '#model/identity/user.ts'
import * as shareLink from '#model/sharing/share-link.ts'

/**
 * Confirms the address. Before, anyone could have signed up with it, so the first time everything ends that was created in its
 * name and would give them access later. `keptSessionId` is that of whoever has shown both a session and the mail.
 */
export async function verifyAddress(tx: Tx, userId: string, keptSessionId: string | null, now: Date): Promise<void> {
  if (!(await user.confirmEmail(tx, userId, now))) return
  if (keptSessionId) await session.endOthers(tx, userId, keptSessionId, now)
  else await session.endAllOfUser(tx, userId, now)
  await apiKey.revokeAllOf(tx, null, userId, now)
  await invitation.withdrawAllBy(tx, null, userId, now)
  await shareLink.revokeAllBy(tx, userId, now)
  await subscription.pauseAllOf(tx, null, userId, now)
  await mailToken.spendAll(tx, userId, now)
  await notification.skipMail(tx, userId, now)
}
