/** Routes that turn two-factor sign-in of an account on and off. */
import Type from 'typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { proofOptions } from '#access/second-step.ts'
import * as twoFactors from '#access/two-factors.ts'
import { Closed, Described, NotBlank, Uuid } from '#core/shapes.ts'
import { inputOf, oneselfOf, Password, platformFor, type AuthParts } from './auth.ts'
import { ChallengeToken, Code, Credential, RecoveryCode, siteOf } from './second-step.ts'

const proof = {
  code: Type.Optional(Code),
  recovery_code: Type.Optional(RecoveryCode),
  credential: Type.Optional(Credential),
  challenge_token: Type.Optional({ ...ChallengeToken, description: 'Challenge token of the credential' }),
}
const presence = { password: Type.Optional(Described(Password, 'Current password, if the account has no second factor')), ...proof }

export const StartFactorInput = Closed(presence)
export const ConfirmAuthenticatorInput = Closed({ code: Code })
export const ProofInput = Closed(proof)
export const AddPasskeyInput = Closed({
  challenge_token: ChallengeToken,
  credential: Credential,
  name: Described(NotBlank(100), 'Display name of the passkey'),
})
export const RemovePasskeyInput = Closed({ passkey_id: Described(Uuid, 'Passkey ID'), ...proof })
export const ProofOptionsInput = Closed({})

export function registerTwoFactors(app: FastifyInstance, parts: AuthParts): void {
  const auth = (request: FastifyRequest) => platformFor(request, parts.auth)
  const oneself = (request: FastifyRequest, reply: FastifyReply) => oneselfOf(request, reply, parts)
  const site = (request: FastifyRequest) => siteOf(request, parts)

  app.get('/auth/two-factors', async (request, reply) => await twoFactors.twoFactors(parts.auth, (await oneself(request, reply)).userId))
  app.post('/auth/two-factors/proof-options', async (request, reply) => {
    const who = await oneself(request, reply)
    inputOf(request, ProofOptionsInput)
    return await proofOptions(auth(request), who, site(request))
  })
  app.post('/auth/two-factors/authenticator/start', async (request, reply) => {
    const who = await oneself(request, reply)
    return await twoFactors.startAuthenticator(auth(request), who, inputOf(request, StartFactorInput), site(request))
  })
  app.post('/auth/two-factors/authenticator/confirm', async (request, reply) => {
    const who = await oneself(request, reply)
    return await twoFactors.confirmAuthenticator(auth(request), who, inputOf(request, ConfirmAuthenticatorInput).code)
  })
  app.post('/auth/two-factors/authenticator/remove', async (request, reply) => {
    const who = await oneself(request, reply)
    await twoFactors.removeAuthenticator(auth(request), who, inputOf(request, ProofInput), site(request))
    return reply.code(204).send()
  })
  app.post('/auth/two-factors/passkeys/start', async (request, reply) => {
    const who = await oneself(request, reply)
    return await twoFactors.startPasskey(auth(request), who, inputOf(request, StartFactorInput), site(request))
  })
  app.post('/auth/two-factors/passkeys/add', async (request, reply) => {
    const who = await oneself(request, reply)
    return await twoFactors.addPasskey(auth(request), who, inputOf(request, AddPasskeyInput), site(request))
  })
  app.post('/auth/two-factors/passkeys/remove', async (request, reply) => {
    const who = await oneself(request, reply)
    await twoFactors.removePasskey(auth(request), who, inputOf(request, RemovePasskeyInput), site(request))
    return reply.code(204).send()
  })
  app.post('/auth/two-factors/recovery-codes', async (request, reply) => {
    const who = await oneself(request, reply)
    return await twoFactors.renewRecoveryCodes(auth(request), who, inputOf(request, ProofInput), site(request))
  })
}
