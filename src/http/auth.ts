import Type, { type Static, type TSchema } from 'typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem, problem } from '#core/problem.ts'
import { Closed, Described, Email, NotBlank, Nullable, Uuid } from '#core/shapes.ts'
import type { Platform } from '#pipeline/platform.ts'
import * as accounts from '#access/account.ts'
import { deleteAccount, deleteOrganization } from '#access/account-deletion.ts'
import * as signIn from '#access/sign-in.ts'
import { validateInput } from '#core/validate.ts'
import { parseBody } from './body.ts'
import { callerAddress, takeSlot } from './caller.ts'
import { isOwnRequest, type Demo } from './local.ts'
import { credentialOf } from './credential.ts'
import { clearRefreshCookie, readRefreshCookie, setRefreshCookie, type CookieTerms } from './refresh-cookie.ts'

export const Password = Type.String({ maxLength: 1_000 })
export const PresentPassword = { ...Password, description: 'Current password' }
const Token = Type.String({ minLength: 1, maxLength: 500 })
const OrganizationId = Type.Optional(Nullable(Uuid))
export const Cookie = Type.Optional(
  Type.Boolean({ description: 'Whether to set the refresh token as an HTTP-only cookie instead of returning it' }),
)

export const SignUpInput = Closed({
  email: Described(Email, 'Email address'),
  password: Described(Password, 'Password, at least 10 characters'),
  name: Described(NotBlank(200), 'Display name of the user'),
  cookie: Cookie,
})
export const SignInInput = Closed({
  email: Type.String({ maxLength: 254, description: 'Email address' }),
  password: Described(Password, 'Password of the account'),
  organization_id: Described(OrganizationId, 'ID of the organization to sign in to; null for the last used'),
  cookie: Cookie,
})
export const RefreshInput = Closed({
  refresh_token: Type.Optional(Described(Token, 'Refresh token; omitted by browsers that have the cookie')),
  organization_id: Described(OrganizationId, 'ID of the organization to switch to; null keeps the current one'),
  cookie: Cookie,
})
export const SignOutInput = Closed({ refresh_token: Described(Type.Optional(Token), 'Refresh token; usable once') })
export const AcceptInput = Closed({ token: Described(Token, 'Invitation token, the last part of the link') })
export const PasswordInput = Closed({
  password: PresentPassword,
  new_password: Described(Password, 'New password, 10 characters to 72 bytes'),
})
export const SignOutEverywhereInput = Closed({ password: Described(Type.Optional(Password), 'Password of the account') })
export const DeleteAccountInput = Closed({ password: PresentPassword })
export const DeleteOrganizationInput = Closed({
  organization_id: Described(Uuid, 'ID of the organization to delete'),
  password: PresentPassword,
  forfeit_credits: Type.Optional(
    Type.Boolean({ description: 'Whether to give up remaining credits; otherwise they prevent the deletion' }),
  ),
})

export interface SignInParts {
  platform: Platform
  auth: signIn.SignInPlatform
  /** Null unless this is a local service with a demo account, whose password is public. */
  demo: Demo
}

export interface AuthParts extends SignInParts {
  isLocal: boolean
}

/** Sign-in. Responses contain credentials, so no cache may store them (RFC 6749 §5.1). */
export function registerAuth(app: FastifyInstance, parts: AuthParts): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.url.startsWith('/auth/')) reply.header('Cache-Control', 'no-store')
    done()
  })
  registerSessions(app, parts)
  registerAccount(app, parts)
  app.get('/.well-known/jwks.json', async () => await parts.auth.tokens.jwks())
}

function registerSessions(app: FastifyInstance, { platform, auth, isLocal, demo }: AuthParts): void {
  const isOwn = (request: FastifyRequest) => isOwnRequest(request, platform.baseUrl())
  const terms: CookieTerms = { baseUrl: platform.baseUrl, isLocal }
  app.post('/auth/sign-up', async (request, reply) => {
    const { cookie, ...input } = inputOf(request, SignUpInput)
    const roles = isOwn(request) ? auth.roles : { ...auth.roles, maySignUp: false }
    const grant = await signIn.signUp({ ...platformFor(request, auth), roles }, input, callerAddress(request))
    await platform.committed(grant.user.id)
    reply.code(201)
    return granted(request, reply, { terms, cookie }, grant)
  })
  app.post('/auth/sign-in', async (request, reply) => {
    const { cookie, ...input } = inputOf(request, SignInInput)
    return granted(request, reply, { terms, cookie }, await signInFrom({ platform, auth, demo }, request, input))
  })
  app.post('/auth/refresh', async (request, reply) => {
    const { cookie, refresh_token, ...input } = inputOf(request, RefreshInput)
    const fromCookie = refresh_token === undefined ? readRefreshCookie(request, terms) : null
    const token = refresh_token ?? fromCookie ?? missingToken()
    const isBrowser = fromCookie !== null
    const grant = await signIn
      .refresh(platformFor(request, auth), { ...input, refresh_token: token }, { isBrowser })
      .catch((error: unknown) => {
        // A rejected token is useless. After any other failure, for example of the database, the browser can try again.
        if (isBrowser && error instanceof Problem && error.status === 401) clearRefreshCookie(request, reply, terms)
        throw error
      })
    return granted(request, reply, { terms, cookie: cookie ?? isBrowser }, grant)
  })
  app.post('/auth/sign-out', async (request, reply) => {
    const { refresh_token } = inputOf(request, SignOutInput)
    const fromCookie = refresh_token === undefined ? readRefreshCookie(request, terms) : null
    if (fromCookie !== null) clearRefreshCookie(request, reply, terms)
    await signIn.signOut(auth, refresh_token ?? fromCookie ?? missingToken())
    return reply.code(204).send()
  })
}

/** Every sign-in with a password goes through here, whatever its URL and format. */
export async function signInFrom(
  { platform, auth, demo }: SignInParts,
  request: FastifyRequest,
  input: { email: string; password: string; organization_id?: string | null },
): Promise<signIn.SignedIn> {
  if (!isOwnRequest(request, platform.baseUrl()) && signIn.isSameEmail(input.email, (await demo())?.email))
    throw problem('forbidden', 'Web pages of other origins cannot sign in to the demo account')
  return await signIn.signIn(platformFor(request, auth), input, callerAddress(request))
}

/** Sessions remember where they were last used from. */
export function platformFor(request: FastifyRequest, auth: signIn.SignInPlatform): signIn.SignInPlatform {
  return { ...auth, device: { userAgent: request.headers['user-agent'] ?? null, address: callerAddress(request) } }
}

/** Returns the refresh token in the cookie or in the body, never in both. */
export function granted(
  request: FastifyRequest,
  reply: FastifyReply,
  { terms, cookie }: { terms: CookieTerms; cookie: boolean | undefined },
  grant: signIn.SignedIn,
): Partial<signIn.SignedIn> {
  if (!cookie) return grant
  const { refresh_token, ...rest } = grant
  setRefreshCookie(request, reply, terms, refresh_token)
  return rest
}

function missingToken(): never {
  throw problem('unauthorized', 'Send refresh_token, or sign in with cookie: true to have the browser send it', {
    headers: { 'WWW-Authenticate': 'Bearer realm="svc"' },
  })
}

function registerAccount(app: FastifyInstance, { platform, auth }: AuthParts): void {
  const oneself = (request: FastifyRequest, reply: FastifyReply) => oneselfOf(request, reply, { platform, auth })
  app.get('/auth/me', async (request, reply) => await signIn.whoAmI(auth, await oneself(request, reply)))
  app.get('/auth/sessions', async (request, reply) => await accounts.listSessions(auth, await oneself(request, reply)))
  app.post('/auth/invitations/preview', async (request) => await accounts.previewInvitation(auth, inputOf(request, AcceptInput).token))
  app.post('/auth/invitations/accept', async (request, reply) => {
    const who = await oneself(request, reply)
    const accepted = await accounts.acceptInvitation(auth, who, inputOf(request, AcceptInput).token)
    await platform.committed(who.userId)
    return accepted
  })
  app.post('/auth/password', async (request, reply) => {
    const who = await oneself(request, reply)
    await accounts.changePassword(auth, who, inputOf(request, PasswordInput))
    return reply.code(204).send()
  })
  app.post('/auth/sign-out-everywhere', async (request, reply) => {
    const who = await oneself(request, reply)
    const { password } = inputOf(request, SignOutEverywhereInput)
    if (password !== undefined) await accounts.requirePassword(auth, who, password)
    await accounts.signOutEverywhere(auth, who)
    return reply.code(204).send()
  })
  app.post('/auth/delete-account', async (request, reply) => {
    const who = await oneself(request, reply)
    await deleteAccount({ ...auth, commit: platform.services.commit }, who, inputOf(request, DeleteAccountInput).password)
    return reply.code(204).send()
  })
  app.post('/auth/delete-organization', async (request, reply) => {
    const who = await oneself(request, reply)
    await deleteOrganization({ ...auth, commit: platform.services.commit }, who, inputOf(request, DeleteOrganizationInput))
    return reply.code(204).send()
  })
}

/** A user with a session: API keys, workers and the platform itself have no account. */
export async function oneselfOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { platform, auth }: Pick<SignInParts, 'platform' | 'auth'>,
): Promise<accounts.Oneself> {
  const credential = credentialOf(request)
  const { principal, allowance } = await platform.authenticator.authenticate(credential, { isAboutOwnAccount: true })
  if (allowance) reply.headers((await platform.rateLimiter.admit(allowance)).headers)
  await takeSlot(platform, request, principal)
  const claims = principal.kind === 'user' ? await auth.tokens.verify(credential!.secret) : null
  if (claims?.typ !== 'session') throw problem('forbidden', 'Only a signed-in user can do this')
  return { userId: claims.userId, sessionId: claims.sessionId, clientAddress: callerAddress(request) }
}

export function inputOf<S extends TSchema>(request: FastifyRequest, schema: S): Static<S> {
  const body = parseBody(request.body as Buffer | undefined, request.headers['content-type'], request.headers['content-encoding'])
  return validateInput(schema, body) as Static<S>
}
