import Type, { type Static, type TSchema } from 'typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem } from '#core/problem.ts'
import { Closed, Email, NotBlank, Nullable, Uuid } from '#core/shapes.ts'
import type { Platform } from '#pipeline/platform.ts'
import * as signIn from '#access/sign-in.ts'
import { validateInput } from '#pipeline/validate.ts'
import { parseBody } from './body.ts'
import { credentialOf } from './credential.ts'

const Password = Type.String({ maxLength: 1_000 })
const Token = Type.String({ minLength: 1, maxLength: 500 })
const OrganizationId = Type.Optional(Nullable(Uuid))

export const SignUpInput = Closed({ email: Email, password: Password, name: NotBlank(200) })
export const SignInInput = Closed({ email: Type.String({ maxLength: 254 }), password: Password, organization_id: OrganizationId })
export const RefreshInput = Closed({ refresh_token: Token, organization_id: OrganizationId })
export const SignOutInput = Closed({ refresh_token: Token })

/** Sign-in, as in RFC 6749 §5.1: the answers hold credentials, so nothing on the way may keep them. */
export function registerAuth(app: FastifyInstance, platform: Platform, auth: signIn.SignInPlatform): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.url.startsWith('/auth/')) reply.header('Cache-Control', 'no-store')
    done()
  })
  app.post('/auth/sign-up', async (request, reply) => {
    reply.code(201)
    return await signIn.signUp(auth, inputOf(request, SignUpInput), request.ip)
  })
  app.post('/auth/sign-in', async (request) => await signIn.signIn(auth, inputOf(request, SignInInput), request.ip))
  app.post('/auth/refresh', async (request) => await signIn.refresh(auth, inputOf(request, RefreshInput)))
  app.post('/auth/sign-out', async (request, reply) => {
    await signIn.signOut(auth, inputOf(request, SignOutInput).refresh_token)
    return reply.code(204).send()
  })
  app.get('/auth/me', async (request, reply) => {
    const { principal, allowance } = await platform.authenticator.authenticate(credentialOf(request))
    if (allowance) reply.headers((await platform.rateLimiter.admit(allowance)).headers)
    if (principal.kind !== 'user') throw problem('forbidden', 'Only a signed-in person can ask this')
    return await signIn.whoAmI(auth, principal.userId!)
  })
  app.get('/.well-known/jwks.json', async () => await auth.tokens.jwks())
}

function inputOf<S extends TSchema>(request: FastifyRequest, schema: S): Static<S> {
  const body = parseBody(request.body as Buffer | undefined, request.headers['content-type'], request.headers['content-encoding'])
  return validateInput(schema, body) as Static<S>
}
