/** Signing up, in, on and out. Routes, not operations: a credential is what they make. */
import { createHash } from 'node:crypto'
import type { Clock } from '#core/clock.ts'
import { problem, type Problem } from '#core/problem.ts'
import type { Db, Tx } from '#db/tables.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import { capsOf } from '#model/money/spend-caps.ts'
import * as sessions from '#model/identity/session.ts'
import * as users from '#model/identity/user.ts'
import { requireUsable, type Passwords } from './passwords.ts'
import { ACCESS_TOKEN_SECONDS, type Tokens } from './tokens.ts'

/** Who holds an operator's role, and whether an address may claim it by signing up. */
export interface OperatorRoles {
  systemAdminEmails: readonly string[]
  clipUserEmail: string | null
  /** Where local, whoever sits at the machine is the operator; anywhere else the operator makes these accounts. */
  maySignUp: boolean
}

export interface SignInPlatform {
  db: Db
  clock: Clock
  tokens: Tokens
  /** Compared at sign-in. */
  passwords: Passwords
  /** Hashed at sign-up, in a queue of their own. */
  newPasswords: Passwords
  roles: OperatorRoles
  /** After a session has ended: resolves when no process remembers it. */
  rightsChanged: () => Promise<void>
  mails: AccountMails
}

/** Mails that bring a token. They are queued here and written later, so that asking takes as long whether there is an account or not. */
interface AccountMails {
  confirm(tx: Tx, userId: string): Promise<void>
  reset(tx: Tx, email: string): Promise<void>
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
/** From one address: a stranger who guesses locks out nobody but themselves. */
const FAILURES_PER_ACCOUNT = 10
/** A whole office may sit behind one address; only its failures count. */
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
    const made = await users.insert(tx, { email: input.email, name: input.name.trim(), passwordHash, ...roles, now })
    if (!made) throw problem('bad-request', 'There is already an account with this email address; sign in instead')
    await platform.mails.confirm(tx, made.id)
    return await signedIn(platform, made, await sessions.open(tx, made.id, null, now))
  })
}

export async function signIn(
  platform: SignInPlatform,
  input: { email: string; password: string; organization_id?: string | null },
  clientAddress: string,
): Promise<SignedIn> {
  const { db, clock } = platform
  const found = await users.findByEmail(db, input.email)
  if (!(await isRight(platform, { email: input.email, password: input.password, hash: found?.passwordHash ?? null }, clientAddress)))
    throw refused(WRONG_PASSWORD)
  if (!found?.user.isActive) throw refused(WRONG_PASSWORD)
  return await db.transaction().execute(async (tx) => {
    const { id, lastOrganizationId } = found.user
    const organizationId = await chooseOrganization(tx, id, input.organization_id ?? null, lastOrganizationId)
    return await signedIn(platform, found.user, await sessions.open(tx, id, organizationId, clock.now()))
  })
}

interface Guess {
  email: string
  password: string
  /** Null where there is no account: the comparison is made all the same. */
  hash: string | null
}

/** Compares a password that somebody claims to know, and counts the failures: of the address on the account, and of the address. */
export async function isRight(platform: SignInPlatform, { email, password, hash }: Guess, clientAddress: string): Promise<boolean> {
  const { db, passwords } = platform
  const account = `${attemptsOn(email)}:${clientAddress}`
  const address = `sign-in-from:${clientAddress}`
  // Counted before the comparison, so that parallel guesses cannot outrun the count; forgiven when the guess was right.
  await throttle(platform, account, FAILURES_PER_ACCOUNT)
  await throttle(platform, address, FAILURES_PER_ADDRESS)
  const right = await passwords.matches(password, hash, clientAddress).catch(async (error: unknown) => {
    await rateWindows.forgive(db, account) // Not compared at all, because too many waited.
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
): Promise<SignedIn> {
  const { db, clock } = platform
  // The outcome of a refused token must commit: a reused one ends its session.
  const result = await db.transaction().execute(async (tx) => {
    const choose = (current: sessions.Session) =>
      chooseOrganization(tx, current.userId, input.organization_id ?? null, current.organizationId)
    return await sessions.refresh(tx, input.refresh_token, choose, clock.now())
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

export async function whoAmI(platform: SignInPlatform, userId: string) {
  const who = (await users.find(platform.db, userId))!
  const caps = await capsOf(platform.db, userId, platform.clock.now())
  const organizations = (await users.organizations(platform.db, userId)).map((organization) => {
    const own = caps.find(({ organizationId }) => organizationId === organization.id)
    return {
      ...organization,
      per_order_limit_credits: own?.perOrder ?? null,
      spend_limit_credits: own?.rolling ?? null,
      spent_30d_credits: own?.spent ?? 0,
    }
  })
  return { user: publicUser(who), organizations }
}

/** The named one, which must be the user's; else the one used last; else the oldest membership. */
async function chooseOrganization(tx: Tx, userId: string, named: string | null, last: string | null): Promise<string | null> {
  const mine = await users.organizations(tx, userId)
  if (named && !mine.some((organization) => organization.id === named)) throw problem('forbidden', 'Access denied')
  return named ?? mine.find((organization) => organization.id === last)?.id ?? mine[0]?.id ?? null
}

async function signedIn(platform: SignInPlatform, who: users.User, issued: sessions.Issued): Promise<SignedIn> {
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

/** Whether two spellings name one account. */
export const isSameEmail = (email: string, other: string | undefined): boolean =>
  other !== undefined && users.normaliseEmail(email) === users.normaliseEmail(other)

/** What sign-ins to one account are counted under, before the address; a digest, because people type passwords into the wrong field. */
export function attemptsOn(email: string): string {
  return `sign-in:${createHash('sha256').update(users.normaliseEmail(email)).digest('base64url')}`
}

export function rolesOf(roles: OperatorRoles, email: string): { isSystemAdmin: boolean; isClipUser: boolean } {
  const address = users.normaliseEmail(email)
  const found = { isSystemAdmin: roles.systemAdminEmails.includes(address), isClipUser: roles.clipUserEmail === address }
  if ((found.isSystemAdmin || found.isClipUser) && !roles.maySignUp)
    throw problem('sign-up-refused', 'The account for this address is made by the operator of this service')
  return found
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

const WRONG_PASSWORD = 'The email address or the password is wrong, or the account is switched off'
const SESSION_ENDED = 'The session has ended; sign in again'

/** One text for every failure: nothing tells an unknown address from a wrong password. The hint follows from the request alone. */
function refused(hint: string): Problem {
  return problem('unauthorized', 'Invalid authentication credentials', {
    headers: { 'WWW-Authenticate': 'Bearer realm="svc", error="invalid_token"' },
    members: { hint },
  })
}
