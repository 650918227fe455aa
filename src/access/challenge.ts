/** What follows a right password if the account has a second factor. */
import type { Clock } from '#core/clock.ts'
import { problem } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'
import * as secondFactors from '#model/identity/second-factor.ts'
import * as challenges from '#model/identity/sign-in-challenge.ts'

/** Returns if the password is enough; otherwise the problem has the token for the second step. */
export async function requireNoSecondFactor(
  { db, clock }: { db: Db; clock: Clock },
  userId: string,
  wantedOrganization: string | null,
): Promise<void> {
  const standing = await secondFactors.standingOf(db, userId)
  if (!secondFactors.isOn(standing)) return
  const token = await challenges.issue(db, { userId, purpose: 'second_factor', wantedOrganization }, clock.now())
  throw problem('second-factor-required', 'This account has two-factor sign-in: continue at POST /auth/sign-in/second-factor', {
    members: {
      challenge_token: token,
      expires_in: challenges.LIFETIME_SECONDS,
      factors: [
        ...(standing.totpSince ? ['code'] : []),
        ...(standing.passkeys > 0 ? ['passkey'] : []),
        ...(standing.recoveryCodesLeft > 0 ? ['recovery_code'] : []),
      ],
    },
  })
}
