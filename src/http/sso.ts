/**
 * Single sign-on by OpenID Connect: the way to the provider and back. People use these routes with a browser, which ends up in the
 * console; programs begin at a port of their own machine and exchange the code that arrives there.
 */
import Type, { type Static, type TSchema } from 'typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as sso from '#access/sso.ts'
import type { SignInPlatform } from '#access/sign-in.ts'
import { isUuid } from '#core/ids.ts'
import { Problem, problem } from '#core/problem.ts'
import { Closed, Described, Email } from '#core/shapes.ts'
import { validateInput } from '#core/validate.ts'
import type { Platform } from '#pipeline/platform.ts'
import { platformFor } from './auth.ts'
import { parseBody } from './body.ts'
import { callerAddress } from './caller.ts'
import { clearRefreshCookie, readRefreshCookie, setRefreshCookie, type CookieTerms } from './refresh-cookie.ts'
import { clearAttemptCookie, readAttemptCookie, setAttemptCookie } from './sso-cookie.ts'

export const FindInput = Closed({ email: Described(Email, 'Email address, whose domain decides') })
export const TokenInput = Closed({
  code: Type.String({ minLength: 1, maxLength: 2_000, description: 'Code that arrived at the port of the program' }),
  verifier: Type.String({ minLength: 43, maxLength: 128, description: 'Text whose SHA-256 digest was sent as `challenge`' }),
})
export const SsoSignOutInput = Closed({
  refresh_token: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'Refresh token; omitted by browsers that have the cookie' }),
  ),
})

interface SsoParts {
  platform: Platform
  auth: SignInPlatform
  isLocal: boolean
}

interface StartQuery {
  organization?: string
  next?: string
  email?: string
  port?: string
  challenge?: string
}

const MAX_EMAIL_LENGTH = 254

export function registerSso(app: FastifyInstance, { platform, auth, isLocal }: SsoParts): void {
  const { sso: provider, secrets, operatorLog } = platform.services
  const own = (): sso.SsoPlatform => ({ ...auth, sso: provider, secrets, operatorLog, baseUrl: platform.baseUrl() })
  const ownFor = (request: FastifyRequest): sso.SsoPlatform => ({ ...own(), ...platformFor(request, auth) })
  const terms: CookieTerms = { baseUrl: platform.baseUrl, isLocal }
  const isSecure = () => platform.baseUrl().startsWith('https:')

  app.get('/auth/sso', async () => sso.offered(own()))
  app.post('/auth/sso/find', async (request) => await sso.find(own(), inputOf(request, FindInput).email, callerAddress(request)))

  app.get<{ Querystring: StartQuery }>('/auth/sso/start', async (request, reply) => {
    // The cookie must be there when the provider leads back to the public address.
    const base = new URL(platform.baseUrl())
    if (request.headers.host !== base.host) return reply.redirect(`${base.origin}${request.url}`, 302)
    const { organization, next, email, port, challenge } = request.query
    const destination = sso.programOf(text(port), text(challenge)) ?? ({ kind: 'console', next: sso.safeNext(text(next)) } as const)
    const organizationId = organizationOf(text(organization))
    try {
      const hint = text(email)
      const emailHint = hint !== undefined && hint.length <= MAX_EMAIL_LENGTH ? hint : null
      const begun = await sso.start(own(), { organizationId, email: emailHint, destination }, callerAddress(request))
      setAttemptCookie(reply, isSecure(), { state: begun.state, value: begun.kept, seconds: begun.keptSeconds })
      return reply.redirect(begun.url, 302)
    } catch (error) {
      return leave(reply, destination, refusalOf(error), organizationId)
    }
  })

  const callback = async (request: FastifyRequest, reply: FastifyReply, organizationId: string | null) => {
    const response = new URL(request.url, 'http://localhost').searchParams
    const state = response.get('state')
    const pending = sso.pendingOf(own(), readAttemptCookie(request, isSecure(), state), { organizationId, state })
    if (!pending) return leave(reply, { kind: 'console', next: null }, 'expired', organizationId)
    const { destination } = pending
    try {
      const grant = await sso.finish(ownFor(request), pending, response)
      await platform.committed(grant.user.id)
      if (destination.kind === 'console') setRefreshCookie(request, reply, terms, grant.refresh_token)
      clearAttemptCookie(reply, isSecure(), state)
      if (destination.kind === 'program') {
        const code = sso.codeFor(own(), grant, destination.challenge)
        return reply.redirect(`http://127.0.0.1:${destination.port}/?code=${code}`, 303)
      }
      const rest = destination.next === null ? '' : `?next=${encodeURIComponent(destination.next)}`
      return reply.redirect(`/app/sso${rest}`, 303)
    } catch (error) {
      const reason = refusalOf(error)
      clearAttemptCookie(reply, isSecure(), state)
      return leave(reply, destination, reason, organizationId)
    }
  }
  app.get('/auth/sso/callback', async (request, reply) => await callback(request, reply, null))
  app.get<{ Params: { organization: string } }>('/auth/sso/callback/:organization', async (request, reply) => {
    if (!isUuid(request.params.organization)) throw problem('not-found', 'No such page')
    return await callback(request, reply, request.params.organization)
  })

  app.post('/auth/sso/token', async (request) => await sso.exchange(ownFor(request), inputOf(request, TokenInput)))
  app.post('/auth/sso/sign-out', async (request, reply) => {
    const { refresh_token } = inputOf(request, SsoSignOutInput)
    const fromCookie = refresh_token === undefined ? readRefreshCookie(request, terms) : null
    if (fromCookie !== null) clearRefreshCookie(request, reply, terms)
    const token = refresh_token ?? fromCookie
    return { provider_url: token === null ? null : await sso.signOut(own(), token) }
  })
}

/** A parameter that was given once. */
const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function organizationOf(given: string | undefined): string | null {
  if (given === undefined) return null
  if (!isUuid(given)) throw problem('not-found', 'No such organization')
  return given.toLowerCase()
}

type Reason = sso.SsoProblem | 'sso-required' | 'busy'

/** What the page says; errors of ours are not hidden. */
function refusalOf(error: unknown): Reason {
  if (error instanceof sso.SsoRefusal) return error.reason
  if (error instanceof Problem && error.slug === 'sso-required') return 'sso-required'
  if (error instanceof Problem && error.slug === 'too-many-attempts') return 'busy'
  throw error
}

/** Back to where the sign-in began, with the reason why there is no session. */
function leave(reply: FastifyReply, destination: sso.Destination, reason: Reason, organizationId: string | null): FastifyReply {
  if (destination.kind === 'program') return reply.redirect(`http://127.0.0.1:${destination.port}/?error=${reason}`, 303)
  const next = destination.next === null ? '' : `&next=${encodeURIComponent(destination.next)}`
  const organization = organizationId === null ? '' : `&organization=${organizationId}`
  return reply.redirect(`/app/sso?problem=${reason}${organization}${next}`, 303)
}

function inputOf<S extends TSchema>(request: FastifyRequest, schema: S): Static<S> {
  const body = parseBody(request.body as Buffer | undefined, request.headers['content-type'], request.headers['content-encoding'])
  return validateInput(schema, body) as Static<S>
}
