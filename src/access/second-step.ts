/** Second factors at sign-in and as proof of presence: codes, recovery codes and passkeys, with a limit on wrong ones. */
import { invalidField, problem, type Problem } from '#core/problem.ts'
import { DAY_MS } from '#core/time.ts'
import * as challenges from '#model/identity/sign-in-challenge.ts'
import * as secondFactors from '#model/identity/second-factor.ts'
import * as users from '#model/identity/user.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import { announce } from './account-events.ts'
import { requirePassword, type Oneself } from './account.ts'
import { authenticated, authenticationOptions, requireSite, type Site } from './passkeys.ts'
import { openSession, refused, type SignedIn, type SignInPlatform } from './sign-in.ts'

/** One of them. */
export interface Factor {
  code?: string | undefined
  recovery_code?: string | undefined
  credential?: object | undefined
}

/** A factor of a signed-in user; a credential answers the challenge of a token. */
export interface Proof extends Factor {
  challenge_token?: string | undefined
}

/**
 * Wrong codes of one account, from any address: who sends them knows the password or has a session already. Three of a million codes are
 * right at a time, so that guessing for a year succeeds with a probability of 5%.
 */
const WRONG_PER_QUARTER_HOUR = 5
const WRONG_PER_DAY = 50
const QUARTER_HOUR_SECONDS = 900
const DAY_SECONDS = DAY_MS / 1000

const EXPIRED = 'The sign-in has expired or was completed; sign in again'

export async function passkeySignInOptions(platform: SignInPlatform, token: string | undefined, site: Site | null) {
  const { db, clock } = platform
  const here = requireSite(site)
  if (token === undefined) {
    const options = await authenticationOptions(db, null, here)
    const issued = await challenges.issue(db, { purpose: 'passkey', challenge: options.challenge }, clock.now())
    return { challenge_token: issued, options }
  }
  const challenge = await challenges.find(db, token, 'second_factor', clock.now())
  if (!challenge) throw refused(EXPIRED)
  const options = await authenticationOptions(db, challenge.userId, here)
  await challenges.ask(db, token, options.challenge)
  return { challenge_token: token, options }
}

/** Completes a sign-in that began with the password. */
export async function completeSignIn(
  platform: SignInPlatform,
  { challenge_token: token, ...factor }: Factor & { challenge_token: string },
  site: Site | null,
): Promise<SignedIn> {
  const { db, clock } = platform
  const challenge = await challenges.find(db, token, 'second_factor', clock.now())
  const who = challenge && (await users.find(db, challenge.userId!))
  if (!who?.isActive) throw refused(EXPIRED)
  await requireRight(platform, who, factor, { challenge: challenge!.challenge, site })
  if (!(await challenges.spend(db, token))) throw refused(EXPIRED)
  return await openSession(platform, who, challenge!.wantedOrganization)
}

/** Signs in with a passkey alone. */
export async function signInByPasskey(
  platform: SignInPlatform,
  input: { challenge_token: string; credential: object; organization_id?: string | null },
  site: Site | null,
): Promise<SignedIn> {
  const { db, clock } = platform
  const challenge = await challenges.find(db, input.challenge_token, 'passkey', clock.now())
  // Used up whatever comes of it: a passkey signs another challenge at the next attempt.
  if (!challenge || !(await challenges.spend(db, input.challenge_token))) throw refused(EXPIRED)
  const asked = { challenge: challenge.challenge!, site: requireSite(site), userId: null }
  const passkey = await authenticated(platform, input.credential, asked)
  const who = passkey && (await users.find(db, passkey.userId))
  if (!who?.isActive) throw refused('The passkey is not known here, or its user was not verified by the device; use the password')
  return await openSession(platform, who, input.organization_id ?? null)
}

/** The challenge that a passkey of a signed-in user answers as proof. */
export async function proofOptions({ db, clock }: SignInPlatform, { userId }: Oneself, site: Site | null) {
  const options = await authenticationOptions(db, userId, requireSite(site))
  const token = await challenges.issue(db, { userId, purpose: 'proof', challenge: options.challenge }, clock.now())
  return { challenge_token: token, options }
}

/**
 * A stolen token must not be enough for lasting changes: they require a second factor now, or the password if the account has none.
 */
export async function requirePresence(
  platform: SignInPlatform,
  oneself: Oneself,
  { password, ...proof }: Proof & { password?: string | undefined },
  site: Site | null,
): Promise<users.User> {
  const { db, clock } = platform
  const who = (await users.find(db, oneself.userId))!
  if (!secondFactors.isOn(await secondFactors.standingOf(db, who.id))) {
    if (password === undefined) throw invalidField('password', 'is required')
    return await requirePassword(platform, oneself, password)
  }
  const { challenge_token: token, ...factor } = proof
  if (Object.values(factor).every((value) => value === undefined))
    throw problem('fresh-factor-required', 'Send code, recovery_code, or credential with its challenge_token')
  const challenge = token === undefined ? null : await challenges.find(db, token, 'proof', clock.now())
  const isOwn = challenge?.userId === who.id && (await challenges.spend(db, token!))
  await requireRight(platform, who, factor, { challenge: isOwn ? challenge.challenge : null, site })
  return who
}

/** Wrong codes are counted before they are compared, so that concurrent guesses cannot outrun the count. Passkeys cannot be guessed. */
async function requireRight(
  platform: SignInPlatform,
  who: users.User,
  { code, recovery_code: recoveryCode, credential }: Factor,
  { challenge, site }: { challenge: string | null; site: Site | null },
): Promise<void> {
  const { db, clock, secrets } = platform
  if ([code, recoveryCode, credential].filter((value) => value !== undefined).length !== 1)
    throw invalidField('code', 'send exactly one of code, recovery_code and credential')
  if (credential !== undefined) {
    const asked = challenge !== null && { challenge, site: requireSite(site), userId: who.id }
    if (asked && (await authenticated(platform, credential, asked))) return
    throw wrong('The passkey does not belong to this account, or did not sign the current challenge')
  }
  await count(platform, who)
  if (code !== undefined) {
    if (!(await secondFactors.spendTotp(db, secrets, who.id, code.replaceAll(/\s/g, ''), clock.now())))
      throw wrong('The code is wrong, has expired or was used before; wait for the next one')
  } else {
    const isRight = await db.transaction().execute(async (tx) => {
      const spent = await secondFactors.spendRecoveryCode(tx, who.id, recoveryCode!, clock.now())
      if (spent) await announce(platform, tx, who, 'recovery_code_used')
      return spent
    })
    if (!isRight) throw wrong('The recovery code is wrong or was used before')
  }
  for (const { subject } of attemptsOf(who.id)) await rateWindows.reset(db, subject)
}

const wrong = (detail: string): Problem => problem('wrong-second-factor', detail)

const attemptsOf = (userId: string) => [
  { subject: `second-factor:${userId}`, windowSeconds: QUARTER_HOUR_SECONDS, limit: WRONG_PER_QUARTER_HOUR },
  { subject: `second-factor-day:${userId}`, windowSeconds: DAY_SECONDS, limit: WRONG_PER_DAY },
]

async function count(platform: SignInPlatform, who: users.User): Promise<void> {
  const { db, clock } = platform
  const now = clock.now()
  for (const { limit, ...hit } of attemptsOf(who.id)) {
    const [counted] = await rateWindows.countAll(db, [hit], now)
    if (counted!.ordinal <= limit) continue
    if (counted!.ordinal === limit + 1) await db.transaction().execute((tx) => announce(platform, tx, who, 'wrong_codes'))
    const waitSeconds = Math.max(1, Math.ceil((counted!.startedAt.getTime() - now.getTime()) / 1000) + hit.windowSeconds)
    throw problem('too-many-attempts', `Too many wrong codes; try again in ${waitSeconds} seconds`, {
      headers: { 'Retry-After': String(waitSeconds) },
    })
  }
}
