/** Sign-up, sign-in, refresh and sign-out. They are routes and not operations, because they create the credentials. */
import { createHash } from 'node:crypto'
import type { Clock } from '#core/clock.ts'
import { problem, type Problem } from '#core/problem.ts'
import { satisfies, userScopes } from '#core/scopes.ts'
import type { AccountNotice } from '#core/account-notice.ts'
import type { Seal } from '#core/seal.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import { capsOf } from '#model/money/spend-caps.ts'
import * as emailChanges from '#model/identity/email-change.ts'
import * as secondFactors from '#model/identity/second-factor.ts'
import * as sessions from '#model/identity/session.ts'
import * as ssoIdentities from '#model/identity/sso-identity.ts'
import * as ssoRules from '#model/identity/sso-rules.ts'
import * as users from '#model/identity/user.ts'
import { requireNoSecondFactor } from './challenge.ts'
import { requireUsable, type Passwords } from './passwords.ts'
import { ACCESS_TOKEN_SECONDS, type Tokens } from './tokens.ts'

/** Who has an operator's role, and whether an email address gets it by signing up. */
export interface OperatorRoles {
  systemAdminEmails: readonly string[]
  clipUserEmail: string | null
  /** True on a local service, where only the operator can sign up; otherwise the operator creates these accounts. */
  maySignUp: boolean
}

export interface SignInPlatform {
  db: Db
  clock: Clock
  tokens: Tokens
  /** For comparisons at sign-in. */
  passwords: Passwords
  /** For hashes at sign-up, in a separate queue. */
  newPasswords: Passwords
  roles: OperatorRoles
  /** Called after a session has ended: resolves when no process has it in its cache. */
  rightsChanged: () => Promise<void>
  mails: AccountMails
  /** Encrypts secrets of second factors. */
  secrets: Seal
  /** Where the request comes from, for the list of sessions. */
  device?: sessions.Device
}

/** Emails with a token. They are only queued here, so that the response takes equally long with and without an account. */
interface AccountMails {
  confirm(tx: Tx, userId: string): Promise<void>
  reset(tx: Tx, email: string): Promise<void>
  changeEmail(tx: Tx, userId: string, email: string): Promise<void>
  notice(tx: Tx, notice: { email: string; name: string; notice: AccountNotice; detail: string | null }): Promise<void>
}

export interface SignedIn {
  access_token: string
  token_type: 'Bearer'
  expires_in: number
  refresh_token: string
  user: { id: string; email: string; name: string }
  organization_id: string | null
}

const ATTEMPT_WINDOW_SECONDS = 900
/** Per account and client address: an attacker who guesses locks out only themselves. */
const FAILURES_PER_ACCOUNT = 10
/** Per client address, which a whole office can share; only failures count. */
const FAILURES_PER_ADDRESS = 100
const SIGN_UPS_PER_ADDRESS = 1_000

export async function signUp(
  platform: SignInPlatform,
  input: { email: string; password: string; name: string },
  clientAddress: string,
): Promise<SignedIn> {
  const { db, clock, newPasswords } = platform
  requireUsable(input.password)
  await throttle(platform, `sign-up:${clientAddress}`, SIGN_UPS_PER_ADDRESS)
  const roles = rolesOf(platform.roles, input.email)
  const passwordHash = await newPasswords.hash(input.password, clientAddress)
  return await db.transaction().execute(async (tx) => {
    const now = clock.now()
    const user = await users.insert(tx, { email: input.email, name: input.name.trim(), passwordHash, ...roles, now })
    if (!user) throw problem('bad-request', 'An account with this email address already exists; sign in instead')
    await platform.mails.confirm(tx, user.id)
    return await signedIn(platform, user, await sessions.open(tx, user.id, null, now, platform.device))
  })
}

export async function signIn(
  platform: SignInPlatform,
  input: { email: string; password: string; organization_id?: string | null },
  clientAddress: string,
): Promise<SignedIn> {
  const account = await users.findByEmail(platform.db, input.email)
  if (!(await isRight(platform, { email: input.email, password: input.password, hash: account?.passwordHash ?? null }, clientAddress)))
    throw refused(WRONG_PASSWORD)
  if (!account?.user.isActive) throw refused(WRONG_PASSWORD)
  await requireNoSecondFactor(platform, account.user.id, input.organization_id ?? null)
  return await openSession(platform, account.user, input.organization_id ?? null)
}

/** Signs in a user who has shown everything that their account requires. */
export async function openSession(platform: SignInPlatform, who: users.User, wantedOrganization: string | null): Promise<SignedIn> {
  const { db, clock, device } = platform
  return await db.transaction().execute(async (tx) => {
    await ssoRules.hold(tx, await users.organizations(tx, who.id))
    const wanted = { named: wantedOrganization, last: who.lastOrganizationId, proof: null, now: clock.now() }
    const organizationId = await chooseOrganization(tx, who.id, wanted)
    return await signedIn(platform, who, await sessions.open(tx, who.id, organizationId, clock.now(), device))
  })
}

interface Guess {
  email: string
  password: string
  /** Null if there is no account: the comparison is made nevertheless. */
  hash: string | null
}

/** Compares a password, and counts failures per account and client address, and per client address. */
export async function isRight(platform: SignInPlatform, { email, password, hash }: Guess, clientAddress: string): Promise<boolean> {
  const { db, passwords } = platform
  const account = `${attemptsOn(email)}:${clientAddress}`
  const address = `sign-in-from:${clientAddress}`
  // Counted before the comparison, so that concurrent guesses cannot outrun the count; a correct one is taken back.
  await throttle(platform, account, FAILURES_PER_ACCOUNT)
  await throttle(platform, address, FAILURES_PER_ADDRESS)
  const right = await passwords.matches(password, hash, clientAddress).catch(async (error: unknown) => {
    await rateWindows.forgive(db, account) // Not compared, because the queue was full.
    await rateWindows.forgive(db, address)
    throw error
  })
  if (!right) return false
  await rateWindows.reset(db, account)
  await rateWindows.forgive(db, address)
  return true
}

export async function refresh(
  platform: SignInPlatform,
  input: { refresh_token: string; organization_id?: string | null },
  { isBrowser }: { isBrowser: boolean },
): Promise<SignedIn> {
  const { db, clock } = platform
  // The outcome must commit even if the token is refused, because a reused token ends its session.
  const result = await db.transaction().execute(async (tx) => {
    const choose = async (current: sessions.Session) => {
      const proof = await ssoIdentities.proofOf(tx, current.id)
      const wanted = { named: input.organization_id ?? null, last: current.organizationId, proof, now: clock.now() }
      return await chooseOrganization(tx, current.userId, wanted)
    }
    return await sessions.refresh(tx, input.refresh_token, choose, { now: clock.now(), isBrowser, device: platform.device })
  })
  if (result.outcome === 'refused') {
    await platform.rightsChanged()
    throw refused(SESSION_ENDED)
  }
  const who = await users.find(db, result.issued.session.userId)
  return await signedIn(platform, who!, result.issued)
}

export async function signOut(platform: SignInPlatform, refreshToken: string): Promise<void> {
  await sessions.endByToken(platform.db, refreshToken, platform.clock.now())
  await platform.rightsChanged()
}

/** A session that began at an organization's own provider sees that organization alone. */
export async function whoAmI(platform: SignInPlatform, { userId, sessionId }: { userId: string; sessionId: string }) {
  const who = (await users.find(platform.db, userId))!
  const caps = await capsOf(platform.db, userId, platform.clock.now())
  const { organizationId: only = null } = (await ssoIdentities.proofOf(platform.db, sessionId)) ?? {}
  const seen = (await users.organizations(platform.db, userId)).filter(({ id }) => only === null || id === only)
  const organizations = seen.map((organization) => {
    const own = caps.find(({ organizationId }) => organizationId === organization.id)
    return {
      ...organization,
      per_order_limit_credits: own?.perOrder ?? null,
      spend_limit_credits: own?.rolling ?? null,
      spent_30d_credits: own?.spent ?? 0,
    }
  })
  const { language, units } = await users.preferences(platform.db, userId)
  return {
    user: publicUser(who),
    can_clip_areas: satisfies(userScopes(who), 'clip:read'),
    language,
    units,
    pending_email: await emailChanges.pendingOf(platform.db, userId, platform.clock.now()),
    has_two_factors: secondFactors.isOn(await secondFactors.standingOf(platform.db, userId)),
    organizations,
  }
}

interface Wanted {
  /** The organization that the caller names. */
  named: string | null
  last: string | null
  /** How the session began, if at a provider. */
  proof: ssoRules.Proof | null
  now: Date
}

/**
 * The requested organization, if the user is a member; otherwise the last used, otherwise the oldest membership. Those that require
 * single sign-on are passed over unless the session began there.
 */
export async function chooseOrganization(tx: Tx, userId: string, { named, last, proof, now }: Wanted): Promise<string | null> {
  const mine = await users.organizations(tx, userId)
  if (named && !mine.some((organization) => organization.id === named)) throw problem('forbidden', 'Access denied')
  const { open, closed } = await ssoRules.divide(tx, mine, proof, now)
  const shut = named ? mine.find(({ id }) => id === named && !open.some((one) => one.id === id)) : open.length === 0 ? closed[0] : undefined
  if (shut) throw ssoRequired(shut, proof)
  return named ?? open.find((organization) => organization.id === last)?.id ?? open[0]?.id ?? null
}

function ssoRequired({ id, name }: { id: string; name: string }, proof: ssoRules.Proof | null): Problem {
  const isElsewhere = proof?.organizationId != null && proof.organizationId !== id
  const detail = isElsewhere
    ? `This session began at the provider of another organization, and acts for that one only. Sign in again to use '${name}'.`
    : `'${name}' requires single sign-on. Open sign_in_url in a browser to sign in there.`
  return problem('sso-required', detail, {
    members: { organization_id: id, ...(isElsewhere ? {} : { sign_in_url: `/auth/sso/start?organization=${id}` }) },
  })
}

/** The grant of a session that has just begun or was renewed. */
export async function signedIn(platform: SignInPlatform, who: users.User, issued: sessions.Issued): Promise<SignedIn> {
  const { id: sessionId, organizationId } = issued.session
  const access = await platform.tokens.sign({ typ: 'session', userId: who.id, sessionId, organizationId }, ACCESS_TOKEN_SECONDS)
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_SECONDS,
    refresh_token: issued.refreshToken,
    user: publicUser(who),
    organization_id: organizationId,
  }
}

function publicUser(who: users.User) {
  return { id: who.id, email: who.email, name: who.name }
}

/** Whether two spellings of an email address mean the same account. */
export const isSameEmail = (email: string, other: string | undefined): boolean =>
  other !== undefined && users.normaliseEmail(email) === users.normaliseEmail(other)

/** Subject of the rate limit of an account; a digest, because people type passwords into the wrong field. */
export function attemptsOn(email: string): string {
  return `sign-in:${createHash('sha256').update(users.normaliseEmail(email)).digest('base64url')}`
}

export function rolesOf(roles: OperatorRoles, email: string): { isSystemAdmin: boolean; isClipUser: boolean } {
  const address = users.normaliseEmail(email)
  const granted = { isSystemAdmin: roles.systemAdminEmails.includes(address), isClipUser: roles.clipUserEmail === address }
  if ((granted.isSystemAdmin || granted.isClipUser) && !roles.maySignUp)
    throw problem('sign-up-refused', 'Only the operator of this service can create the account for this email address')
  return granted
}

export async function throttle({ db, clock }: SignInPlatform, subject: string, limit: number): Promise<void> {
  const now = clock.now()
  const [count] = await rateWindows.countAll(db, [{ subject, windowSeconds: ATTEMPT_WINDOW_SECONDS }], now)
  if (count!.ordinal <= limit) return
  const waitSeconds = Math.max(1, Math.ceil((count!.startedAt.getTime() - now.getTime()) / 1000) + ATTEMPT_WINDOW_SECONDS)
  throw problem('too-many-attempts', `Too many attempts; try again in ${waitSeconds} seconds`, {
    headers: { 'Retry-After': String(waitSeconds) },
  })
}

const WRONG_PASSWORD = 'The email address or the password is wrong, or the account is disabled'
const SESSION_ENDED = 'The session has ended; sign in again'

/** One text for every failure, so that an unknown address and a wrong password look alike. The hint depends only on the request. */
export function refused(hint: string): Problem {
  return problem('unauthorized', 'Invalid authentication credentials', {
    headers: { 'WWW-Authenticate': 'Bearer realm="svc", error="invalid_token"' },
    members: { hint },
  })
}
