/** Routes of the second step of a sign-in, and of sign-in by passkey. */
import Type from 'typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Site } from '#access/passkeys.ts'
import * as secondStep from '#access/second-step.ts'
import { Closed, Described, FreeForm, Nullable, Uuid } from '#core/shapes.ts'
import { Cookie, granted, inputOf, platformFor, type AuthParts } from './auth.ts'
import { isIP } from 'node:net'

export const ChallengeToken = Type.String({ minLength: 1, maxLength: 200, description: 'Challenge token of this sign-in' })
export const Credential = Described(FreeForm, 'What the browser returned for the passkey, as JSON (WebAuthn)')
export const Code = Type.String({ minLength: 1, maxLength: 20, description: 'Code of the authenticator app, 6 digits' })
export const RecoveryCode = Type.String({ minLength: 1, maxLength: 60, description: 'Recovery code that was not used before' })

export const SecondFactorInput = Closed({
  challenge_token: ChallengeToken,
  code: Type.Optional(Code),
  recovery_code: Type.Optional(RecoveryCode),
  credential: Type.Optional(Credential),
  cookie: Cookie,
})
export const PasskeyOptionsInput = Closed({
  challenge_token: Type.Optional({ ...ChallengeToken, description: 'Challenge token after the password; omit it to sign in without one' }),
})
export const PasskeySignInInput = Closed({
  challenge_token: ChallengeToken,
  credential: Credential,
  organization_id: Described(Type.Optional(Nullable(Uuid)), 'ID of the organization to sign in to; null for the last used'),
  cookie: Cookie,
})

/**
 * The site that passkeys are bound to; null if it has no host name. Users of a local service type `localhost` where BASE_URL is
 * 127.0.0.1, and browsers accept passkeys for the former only.
 */
export function siteOf(request: FastifyRequest, { platform, isLocal }: Pick<AuthParts, 'platform' | 'isLocal'>): Site | null {
  const named = URL.parse(`http://${request.headers.host ?? ''}`)
  if (isLocal && named?.hostname === 'localhost') return { id: 'localhost', origin: named.origin }
  const own = new URL(platform.baseUrl())
  const isAddress = isIP(own.hostname.replaceAll(/[[\]]/g, '')) !== 0
  return isAddress ? null : { id: own.hostname, origin: own.origin }
}

export function registerSecondStep(app: FastifyInstance, parts: AuthParts): void {
  const terms = { baseUrl: parts.platform.baseUrl, isLocal: parts.isLocal }
  app.post('/auth/sign-in/second-factor', async (request, reply) => {
    const { cookie, ...input } = inputOf(request, SecondFactorInput)
    const grant = await secondStep.completeSignIn(platformFor(request, parts.auth), input, siteOf(request, parts))
    return granted(request, reply, { terms, cookie }, grant)
  })
  app.post('/auth/sign-in/passkey-options', async (request) => {
    const { challenge_token: token } = inputOf(request, PasskeyOptionsInput)
    return await secondStep.passkeySignInOptions(platformFor(request, parts.auth), token, siteOf(request, parts))
  })
  app.post('/auth/sign-in/passkey', async (request, reply) => {
    const { cookie, ...input } = inputOf(request, PasskeySignInInput)
    const grant = await secondStep.signInByPasskey(platformFor(request, parts.auth), input, siteOf(request, parts))
    return granted(request, reply, { terms, cookie }, grant)
  })
}
