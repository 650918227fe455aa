/** Routes for links in emails, and each user's choice of which notifications are emailed. */
import Type, { type Static, type TSchema } from 'typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import * as mailed from '#access/mailed.ts'
import type { SignInPlatform } from '#access/sign-in.ts'
import { problem } from '#core/problem.ts'
import { Choice, Closed, Email } from '#core/shapes.ts'
import { NOTIFICATION_MAILS } from '#core/vocabulary.ts'
import type { Platform } from '#pipeline/platform.ts'
import { validateInput } from '#core/validate.ts'
import { parseBody } from './body.ts'
import { callerAddress, takeSlot } from './caller.ts'
import { credentialOf } from './credential.ts'

const Token = Type.String({ minLength: 1, maxLength: 200, description: 'Token after `#token=` in the emailed link' })
export const ForgotInput = Closed({ email: { ...Email, description: 'Email address of the account' } })
export const ResetInput = Closed({
  token: Token,
  password: Type.String({ maxLength: 1_000, description: 'New password, at least 10 characters' }),
})
export const ConfirmInput = Closed({ token: Token })
export const MailChoice = Closed({
  notification_mail: Choice(NOTIFICATION_MAILS, {
    description: 'When notifications are emailed: never, immediately or daily',
  }),
})

export function registerMailed(app: FastifyInstance, { platform, auth }: { platform: Platform; auth: SignInPlatform }): void {
  app.post('/auth/forgot', async (request, reply) => {
    await mailed.forgot(auth, inputOf(request, ForgotInput).email, callerAddress(request))
    return reply.code(202).send({ status: 'accepted' })
  })
  app.post('/auth/reset', async (request, reply) => {
    await mailed.reset(auth, inputOf(request, ResetInput), callerAddress(request))
    return reply.code(204).send()
  })
  app.post('/auth/confirm', async (request, reply) => {
    await mailed.confirm(auth, inputOf(request, ConfirmInput).token)
    return reply.code(204).send()
  })
  const person = async (request: FastifyRequest): Promise<string> => {
    const { principal, allowance } = await platform.authenticator.authenticate(credentialOf(request))
    if (allowance) await platform.rateLimiter.admit(allowance)
    await takeSlot(platform, request, principal)
    if (principal.kind !== 'user') throw problem('forbidden', 'Only a signed-in user has an inbox')
    return principal.id
  }
  app.get('/auth/notifications', async (request) => await mailed.mailChoice(auth, await person(request)))
  app.post('/auth/notifications', async (request, reply) => {
    const userId = await person(request)
    await mailed.chooseMail(auth, userId, inputOf(request, MailChoice).notification_mail)
    return reply.code(204).send()
  })
}

function inputOf<S extends TSchema>(request: FastifyRequest, schema: S): Static<S> {
  const body = parseBody(request.body as Buffer | undefined, request.headers['content-type'], request.headers['content-encoding'])
  return validateInput(schema, body) as Static<S>
}
