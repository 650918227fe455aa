import type { FastifyInstance } from 'fastify'
import { EVENT_TYPES } from '#core/event-types.ts'
import type { Platform } from '#pipeline/platform.ts'
import { takeSlot } from './caller.ts'
import { credentialOf } from './credential.ts'

export function registerEventTypes(app: FastifyInstance, { platform }: { platform: Platform }): void {
  app.get('/v1/event-types', async (request, reply) => {
    const { principal, allowance } = await platform.authenticator.authenticate(credentialOf(request))
    if (allowance) reply.headers((await platform.rateLimiter.admit(allowance)).headers)
    await takeSlot(platform, request, principal)
    return { event_types: EVENT_TYPES }
  })
}
