import Type, { type Static } from 'typebox'
import type { FastifyInstance } from 'fastify'
import { problem } from '#core/problem.ts'
import { Closed, Nullable } from '#core/shapes.ts'
import { receiveNotice } from '#background/payment-notice.ts'
import type { Platform } from '#pipeline/platform.ts'
import { validateInput } from '#core/validate.ts'
import { parseBody } from './body.ts'
import { isOwnRequest } from './local.ts'
import { STANDARD_BYTES } from './read-body.ts'

/** What a user does at the sandbox processor: confirming a payment in the browser. */
export interface SandboxConfirmation {
  confirm(
    clientSecret: string,
    methodId: string | null,
  ): Promise<{ id: string; object: string; status: string; payment_method: string | null } | null>
}

const ConfirmInput = Closed({
  client_secret: Type.String({ minLength: 1, maxLength: 500 }),
  payment_method: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
})

interface PaymentParts {
  platform: Platform
  sandboxPayments: SandboxConfirmation | null
  isLocal: boolean
}

/** `/webhooks/payments` for the processor's signed webhooks; in the sandbox, `/sandbox/payments/confirm` replaces its browser page. */
export function registerPayments(app: FastifyInstance, { platform, sandboxPayments, isLocal }: PaymentParts): void {
  app.post('/webhooks/payments', { bodyLimit: STANDARD_BYTES }, async (request) => {
    const signature = request.headers['stripe-signature']
    await receiveNotice(platform, (request.body as Buffer | undefined) ?? Buffer.alloc(0), typeof signature === 'string' ? signature : '')
    return { received: true }
  })
  if (!sandboxPayments) return
  app.post('/sandbox/payments/confirm', async (request) => {
    if (isLocal && !isOwnRequest(request, platform.baseUrl()))
      throw problem('forbidden', 'Only pages of this service can confirm sandbox payments')
    const body = parseBody(request.body as Buffer | undefined, request.headers['content-type'], request.headers['content-encoding'])
    const { client_secret, payment_method } = validateInput(ConfirmInput, body) as Static<typeof ConfirmInput>
    const done = await sandboxPayments.confirm(client_secret, payment_method ?? null)
    if (!done) throw problem('not-found', 'No payment with this client_secret awaits confirmation')
    return { id: done.id, object: done.object, status: done.status, payment_method: done.payment_method }
  })
}
