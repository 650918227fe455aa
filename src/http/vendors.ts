import type { FastifyInstance } from 'fastify'
import { pollAfterNotice } from '#background/vendor-notice.ts'
import type { Platform } from '#pipeline/platform.ts'
import { STANDARD_BYTES } from './read-body.ts'

/** `/webhooks/vendors/{reference}`: a vendor's callback. Its body is not read, and the response is the same for every reference. */
export function registerVendors(app: FastifyInstance, { platform }: { platform: Platform }): void {
  app.post<{ Params: { reference: string } }>('/webhooks/vendors/:reference', { bodyLimit: STANDARD_BYTES }, async (request, reply) => {
    await pollAfterNotice(platform, request.params.reference)
    return reply.code(202).send({ received: true })
  })
}
