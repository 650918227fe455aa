/** Routes for the settings of an account: name, language, units, email address and sessions. */
import Type from 'typebox'
import type { FastifyInstance } from 'fastify'
import * as settings from '#access/account-settings.ts'
import { Choice, Closed, Described, Email, NotBlank, Nullable, Uuid } from '#core/shapes.ts'
import { LANGUAGES, UNITS } from '#core/vocabulary.ts'
import { inputOf, oneselfOf, PresentPassword, platformFor, type AuthParts } from './auth.ts'

export const SettingsInput = Closed({
  name: Type.Optional(Described(NotBlank(200), 'Display name of the user')),
  language: Type.Optional(
    Nullable(Choice(LANGUAGES, { description: 'How the console writes numbers and dates, as a language tag; null for the default' })),
  ),
  units: Type.Optional(Nullable(Choice(UNITS, { description: 'Units of areas and lengths in the console; null for the default, metric' }))),
})
export const EmailInput = Closed({ email: Described(Email, 'New email address'), password: PresentPassword })
export const ConfirmEmailInput = Closed({
  token: Type.String({ minLength: 1, maxLength: 200, description: 'Token after `#token=` in the emailed link' }),
})
export const EndSessionInput = Closed({ session_id: Described(Uuid, 'Session ID') })
export const EndOthersInput = Closed({})

export function registerAccountSettings(app: FastifyInstance, parts: AuthParts): void {
  app.post('/auth/settings', async (request, reply) => {
    const who = await oneselfOf(request, reply, parts)
    await settings.setSettings(parts.auth, who, inputOf(request, SettingsInput))
    return reply.code(204).send()
  })
  app.post('/auth/email', async (request, reply) => {
    const who = await oneselfOf(request, reply, parts)
    await settings.requestEmail(platformFor(request, parts.auth), who, inputOf(request, EmailInput))
    return reply.code(202).send({ status: 'accepted' })
  })
  app.post('/auth/email/confirm', async (request, reply) => {
    await settings.confirmEmail(parts.auth, inputOf(request, ConfirmEmailInput).token)
    return reply.code(204).send()
  })
  app.post('/auth/sessions/end', async (request, reply) => {
    const who = await oneselfOf(request, reply, parts)
    await settings.endSession(parts.auth, who, inputOf(request, EndSessionInput).session_id)
    return reply.code(204).send()
  })
  app.post('/auth/sessions/end-others', async (request, reply) => {
    const who = await oneselfOf(request, reply, parts)
    inputOf(request, EndOthersInput)
    await settings.endOtherSessions(parts.auth, who)
    return reply.code(204).send()
  })
}
