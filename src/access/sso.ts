/**
 * Sign-in at an OpenID Connect provider: of the installation, which the operator trusts, or of one organization, which its owners trust.
 * An organization's provider vouches for addresses of domains that the organization has verified, and for that organization only.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Services } from '#context.ts'
import { problem } from '#core/problem.ts'
import { givenRoles, type GivenRoles } from '#core/role-rules.ts'
import { MINUTE_MS } from '#core/time.ts'
import type { Tx } from '#db/tables.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as sessions from '#model/identity/session.ts'
import * as connections from '#model/identity/sso-connection.ts'
import * as domains from '#model/identity/sso-domain.ts'
import * as identities from '#model/identity/sso-identity.ts'
import * as ssoRules from '#model/identity/sso-rules.ts'
import * as users from '#model/identity/user.ts'
import { SsoFailure, type InstallationProvider, type Provider, type VouchedPerson } from '#ports/sso.ts'
import { chooseOrganization, refresh, rolesOf, signedIn, throttle, type SignedIn, type SignInPlatform } from './sign-in.ts'
import { verifyAddress } from './verification.ts'

export interface SsoPlatform extends SignInPlatform, Pick<Services, 'sso' | 'operatorLog'> {
  baseUrl: string
}

/** Why a sign-in ended without a session; the page of the console explains each. */
export type SsoProblem =
  | 'not-configured'
  | 'expired'
  | 'cancelled'
  | 'provider'
  | 'unverified-email'
  | 'foreign-domain'
  | 'no-access'
  | 'no-account'
  | 'operator-account'
  | 'disabled'

export class SsoRefusal extends Error {
  readonly reason: SsoProblem
  constructor(reason: SsoProblem) {
    super(`Single sign-on refused: ${reason}`)
    this.reason = reason
  }
}

const START_LIMIT = 300
const FIND_LIMIT = 100
const ATTEMPT_MS = 10 * MINUTE_MS
const CODE_MS = MINUTE_MS
const ATTEMPT = 'sso attempt'
const CODE = 'sso code'
const ID_TOKEN = 'sso id token'
const NEXT = /^\/(?![/\\])[\x21-\x7e]{0,1999}$/
const CHALLENGE = /^[\w-]{43}$/

/** Where the user goes afterwards: a page of the console, or a program that listens on this machine. */
export type Destination = { kind: 'console'; next: string | null } | { kind: 'program'; port: number; challenge: string }

/** What the browser keeps, encrypted, while its user is at the provider. */
interface Pending {
  organizationId: string | null
  state: string
  nonce: string
  verifier: string
  expiresAt: number
  destination: Destination
}

/** Only a page of our own: an address of another site is dropped. */
export function safeNext(next: string | undefined): string | null {
  return next !== undefined && NEXT.test(next) ? next : null
}

/** Only a program of the user's own machine, which proves later that it asked. */
export function programOf(port: string | undefined, challenge: string | undefined): Destination | null {
  const number = Number(port)
  if (port === undefined || challenge === undefined || !/^\d{1,5}$/.test(port) || number < 1 || number > 65_535) return null
  return CHALLENGE.test(challenge) ? { kind: 'program', port: number, challenge } : null
}

const random = (): string => randomBytes(32).toString('base64url')

/** The address that the provider sends the browser back to. Each connection has its own, so that no provider can answer for another. */
const redirectUri = (baseUrl: string, organizationId: string | null): string =>
  `${baseUrl}/auth/sso/callback${organizationId === null ? '' : `/${organizationId}`}`

interface Source {
  readonly provider: Provider
  readonly connection: connections.Connection | null
}

async function sourceOf({ db, secrets, sso }: SsoPlatform, organizationId: string | null): Promise<Source> {
  if (organizationId === null) {
    if (!sso.installation) throw new SsoRefusal('not-configured')
    return { provider: sso.installation, connection: null }
  }
  const found = await connections.findProvider(db, secrets, organizationId)
  if (!found) throw new SsoRefusal('not-configured')
  return found
}

/** Begins a sign-in: where the browser goes, and what it keeps meanwhile. */
export async function start(
  platform: SsoPlatform,
  { organizationId, email, destination }: { organizationId: string | null; email: string | null; destination: Destination },
  clientAddress: string,
): Promise<{ url: string; state: string; kept: string; keptSeconds: number }> {
  await throttle(platform, `sso-from:${clientAddress}`, START_LIMIT)
  const { provider } = await sourceOf(platform, organizationId)
  const attempt = { state: random(), nonce: random(), verifier: random() }
  const expiresAt = platform.clock.now().getTime() + ATTEMPT_MS
  const pending: Pending = { organizationId, ...attempt, expiresAt, destination }
  const address = redirectUri(platform.baseUrl, organizationId)
  const url = await platform.sso
    .start(provider, { ...attempt, redirectUri: address }, email)
    .catch((error: unknown) => refuse(platform, provider, error))
  return {
    url,
    state: attempt.state,
    kept: platform.secrets.close(JSON.stringify(pending), ATTEMPT),
    keptSeconds: ATTEMPT_MS / 1_000,
  }
}

/** What a browser kept, if it is ours, not too old, and of this very attempt. */
export function pendingOf(
  { secrets, clock }: SsoPlatform,
  kept: string | null,
  { organizationId, state }: { organizationId: string | null; state: string | null },
): Pending | null {
  const text = kept === null ? null : secrets.open(kept, ATTEMPT)
  if (text === null) return null
  const pending = JSON.parse(text) as Pending
  const isThis = pending.state === state && pending.organizationId === organizationId
  return isThis && pending.expiresAt > clock.now().getTime() ? pending : null
}

/** Ends a sign-in: the grant of a new session. Throws an SsoRefusal. */
export async function finish(platform: SsoPlatform, pending: Pending, response: URLSearchParams): Promise<SignedIn> {
  const source = await sourceOf(platform, pending.organizationId)
  const attempt = { ...pending, redirectUri: redirectUri(platform.baseUrl, pending.organizationId) }
  const person = await platform.sso
    .finish(source.provider, attempt, response)
    .catch((error: unknown) => refuse(platform, source.provider, error))
  const outcome = await platform.db.transaction().execute((tx) => enter(platform, tx, source, person))
  await platform.rightsChanged()
  if ('reason' in outcome) throw new SsoRefusal(outcome.reason)
  return outcome.grant
}

function refuse({ operatorLog }: SsoPlatform, { issuer }: Provider, error: unknown): never {
  if (!(error instanceof SsoFailure)) throw error
  operatorLog.warn(`Single sign-on at ${issuer} failed: ${error.message}${causeOf(error)}`)
  throw new SsoRefusal(error.code === 'access_denied' ? 'cancelled' : 'provider')
}

/** The library's own words, which quote nothing that the provider sent. */
const causeOf = ({ code, cause }: SsoFailure): string =>
  code !== null ? ` (${code})` : cause instanceof Error ? ` (${cause.message})` : ''

/** A refusal is returned, not thrown: what it took away stays taken. */
type Outcome = { grant: SignedIn } | { reason: SsoProblem }

async function enter(platform: SsoPlatform, tx: Tx, { connection }: Source, person: VouchedPerson): Promise<Outcome> {
  const now = platform.clock.now()
  const organizationId = connection?.organizationId ?? null
  if (organizationId !== null) await memberships.lock(tx, organizationId)
  const account = await accountOf(platform, tx, organizationId, person)
  if ('reason' in account) return account
  const { user } = account
  if (!user.isActive) return { reason: 'disabled' }
  // The owner of an organization must not become an operator of the service by means of a provider.
  if (organizationId !== null && (user.isSystemAdmin || user.isClipUser)) return { reason: 'operator-account' }
  if (connection) {
    if (!(await applyRoles(tx, connection, user.id, givenRoles(connection, person.claims), now))) return { reason: 'no-access' }
  } else await joinByDomain(tx, user.id, person, now)
  await identities.link(tx, { ...person, organizationId }, user.id, now)
  const proof: ssoRules.Proof = { organizationId, signedInAt: now }
  const wanted = { named: organizationId, last: user.lastOrganizationId, proof, now }
  const issued = await sessions.open(tx, user.id, await chooseOrganization(tx, user.id, wanted), now, platform.device)
  await identities.markSession(tx, issued.session.id, proof, platform.secrets.close(person.idToken, ID_TOKEN))
  return { grant: await signedIn(platform, user, issued) }
}

type Account = { user: users.User } | { reason: SsoProblem }

/** The account that this connection knows the person by; else the one with their address, if the provider may speak for it. */
async function accountOf(platform: SsoPlatform, tx: Tx, organizationId: string | null, person: VouchedPerson): Promise<Account> {
  const now = platform.clock.now()
  const knownId = await identities.findUser(tx, { ...person, organizationId })
  if (knownId !== null) return { user: (await users.find(tx, knownId))! }
  const { email } = person
  if (email === null || !person.isEmailVerified) return { reason: 'unverified-email' }
  if (!(await isTrustedFor(platform.sso.installation, tx, organizationId, email))) return { reason: 'foreign-domain' }
  const existing = (await users.findByEmail(tx, email))?.user
  if (existing) {
    if (!existing.isActive || (organizationId !== null && (existing.isSystemAdmin || existing.isClipUser))) return { user: existing }
    await users.dropUnconfirmedPassword(tx, existing.id)
    await verifyAddress(tx, existing.id, null, now)
    return { user: existing }
  }
  if (organizationId === null && !platform.sso.installation?.maySignUp) return { reason: 'no-account' }
  return await createAccount(platform, tx, { organizationId, email, name: person.name ?? email.split('@')[0]! }, now)
}

async function isTrustedFor(
  installation: InstallationProvider | null,
  tx: Tx,
  organizationId: string | null,
  email: string,
): Promise<boolean> {
  const domain = domains.domainOf(email)
  if (domain === null) return false
  if (organizationId !== null) return await domains.isVerified(tx, organizationId, domain)
  return installation !== null && (installation.domains.length === 0 || installation.domains.includes(domain))
}

async function createAccount(
  { roles }: SsoPlatform,
  tx: Tx,
  { organizationId, email, name }: { organizationId: string | null; email: string; name: string },
  now: Date,
): Promise<Account> {
  const granted = rolesFor(roles, email)
  if (granted === null || (organizationId !== null && (granted.isSystemAdmin || granted.isClipUser))) return { reason: 'operator-account' }
  const user = await users.insert(tx, { email, name, passwordHash: users.NO_PASSWORD, ...granted, now })
  if (!user) return { reason: 'no-account' } // Signed up at the same moment; the next attempt finds the account.
  await users.confirmEmail(tx, user.id, now)
  return { user }
}

/** Null: only the operator can create this account. */
function rolesFor(roles: SignInPlatform['roles'], email: string): ReturnType<typeof rolesOf> | null {
  try {
    return rolesOf(roles, email)
  } catch {
    return null
  }
}

/**
 * Membership as the claims say, except for owners, whom only owners appoint. Without a role claim, members keep the role that they
 * were given here. Returns whether the person has access; whoever has left every group loses it now, with keys and sessions.
 */
async function applyRoles(tx: Tx, connection: connections.Connection, userId: string, given: GivenRoles, now: Date): Promise<boolean> {
  const { organizationId, roleClaim, roleRules } = connection
  const member = await organizations.findMember(tx, organizationId, userId)
  if (member?.role === 'owner') return true
  if (given.role === null) {
    if (!member) return false
    if (roleClaim === null) return true
    await memberships.end(tx, organizationId, userId, now)
    return false
  }
  if (!member) await organizations.addMember(tx, organizationId, userId, given.role, now)
  else if (roleClaim !== null && member.role !== given.role) await memberships.setRole(tx, organizationId, userId, given.role, now)
  const named = [...new Set(roleRules.flatMap(({ project_id }) => project_id ?? []))]
  if (named.length > 0) await projects.setRolesOf(tx, organizationId, userId, { named, given: given.projects }, now)
  return true
}

/** For people of a domain whose organization lets them join by themselves. A membership is never changed or ended here. */
async function joinByDomain(tx: Tx, userId: string, { email, isEmailVerified }: VouchedPerson, now: Date): Promise<void> {
  const domain = email !== null && isEmailVerified ? domains.domainOf(email) : null
  if (domain === null) return
  for (const { organizationId, role } of await ssoRules.joinedByDomain(tx, domain)) {
    await memberships.lock(tx, organizationId)
    if (!(await organizations.findMember(tx, organizationId, userId))) await organizations.addMember(tx, organizationId, userId, role, now)
  }
}

/** Where people with this address sign in. A domain is no secret; whether an account exists is not said. */
export async function find(platform: SsoPlatform, email: string, clientAddress: string) {
  await throttle(platform, `sso-find:${clientAddress}`, FIND_LIMIT)
  const domain = domains.domainOf(email)
  const organizationList = domain === null ? [] : await domains.organizationsOf(platform.db, domain)
  const { installation } = platform.sso
  const isForAll = installation !== null && domain !== null && installation.domains.includes(domain)
  if (organizationList.length === 0 && !isForAll)
    throw problem('sso-unknown-domain', 'No organization here has single sign-on for this domain')
  return {
    choices: [
      ...organizationList.map(({ id, name }) => ({ organization_id: id, name, url: `/auth/sso/start?organization=${id}` })),
      ...(isForAll ? [{ organization_id: null, name: installation.name, url: '/auth/sso/start' }] : []),
    ],
  }
}

/** What a sign-in page offers before anybody has said who they are. */
export function offered({ sso }: Pick<SsoPlatform, 'sso'>) {
  return { installation: sso.installation && { name: sso.installation.name, url: '/auth/sso/start' } }
}

/**
 * A code for the program that began the sign-in, to be exchanged within a minute. It holds the refresh token, which works once: a copy of
 * the code that is exchanged as well ends the session.
 */
export function codeFor({ secrets, clock }: SsoPlatform, { refresh_token }: SignedIn, challenge: string): string {
  const expiresAt = clock.now().getTime() + CODE_MS
  return Buffer.from(secrets.close(JSON.stringify({ refresh_token, challenge, expiresAt }), CODE), 'base64').toString('base64url')
}

export async function exchange(platform: SsoPlatform, { code, verifier }: { code: string; verifier: string }): Promise<SignedIn> {
  const text = platform.secrets.open(Buffer.from(code, 'base64url').toString('base64'), CODE)
  const kept = text === null ? null : (JSON.parse(text) as { refresh_token: string; challenge: string; expiresAt: number })
  const challenge = createHash('sha256').update(verifier).digest()
  const isAsker = kept !== null && timingSafeEqual(challenge, Buffer.from(kept.challenge, 'base64url'))
  if (!isAsker || kept.expiresAt <= platform.clock.now().getTime())
    throw problem('unauthorized', 'The code is not valid, or no longer; sign in again', {
      headers: { 'WWW-Authenticate': 'Bearer realm="svc", error="invalid_token"' },
    })
  return await refresh(platform, { refresh_token: kept.refresh_token }, { isBrowser: false })
}

/** Ends a session here. Returns where to end it at the provider; null if it did not begin at one that offers this. */
export async function signOut(platform: SsoPlatform, refreshToken: string): Promise<string | null> {
  const sessionId = await sessions.findByToken(platform.db, refreshToken)
  const proof = sessionId === null ? null : await identities.proofOf(platform.db, sessionId)
  await sessions.endByToken(platform.db, refreshToken, platform.clock.now())
  await platform.rightsChanged()
  if (!proof) return null
  try {
    const { provider } = await sourceOf(platform, proof.organizationId)
    const idToken = proof.idToken === null ? null : platform.secrets.open(proof.idToken, ID_TOKEN)
    return await platform.sso.signOutUrl(provider, idToken, `${platform.baseUrl}/app/sign-in`)
  } catch (error) {
    if (error instanceof SsoRefusal || error instanceof SsoFailure) return null // The session has ended here in any case.
    throw error
  }
}
