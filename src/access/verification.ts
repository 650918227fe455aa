/** Confirms the email address of an account. */
import type { Tx } from '#db/tables.ts'
import * as notifications from '#model/events/notification.ts'
import * as subscriptions from '#model/events/subscription.ts'
import * as apiKeys from '#model/identity/api-key.ts'
import * as invitations from '#model/identity/invitation.ts'
import * as mailTokens from '#model/identity/mail-token.ts'
import * as secondFactors from '#model/identity/second-factor.ts'
import * as sessions from '#model/identity/session.ts'
import * as users from '#model/identity/user.ts'
import * as shareLinks from '#model/sharing/share-link.ts'

/**
 * Until then anyone could have signed up with the address, so the first confirmation ends everything that was created in its name
 * and could give them access later. `keptSessionId` is the session that was used together with the emailed link.
 */
export async function verifyAddress(tx: Tx, userId: string, keptSessionId: string | null, now: Date): Promise<void> {
  if (!(await users.confirmEmail(tx, userId, now))) return
  if (keptSessionId) await sessions.endOthers(tx, userId, keptSessionId, now)
  else {
    await sessions.endAllOfUser(tx, userId, now)
    // Whoever signed up with the address could sign in with a passkey of theirs, and keep its owner out with a code.
    await secondFactors.removeAll(tx, userId)
  }
  await apiKeys.revokeAllOf(tx, null, userId, now)
  await invitations.withdrawAllBy(tx, null, userId, now)
  await shareLinks.revokeAllBy(tx, userId, now)
  await subscriptions.pauseAllOf(tx, null, userId, now)
  await mailTokens.spendAll(tx, userId, now)
  await notifications.skipMail(tx, userId, now)
}
