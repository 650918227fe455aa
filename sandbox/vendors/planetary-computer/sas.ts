/**
 * The signing service of the Planetary Computer and the check of its tokens at the storage: read-only tokens for one container
 * that end at a time which is part of the token.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Clock } from '#core/clock.ts'

export interface Sas {
  /** Tokens issued so far. */
  readonly issued: number
  /** How long new tokens are valid. */
  lifetimeSeconds: number
  /** How far the server's clock is ahead of ours. */
  aheadSeconds: number
  /** From now on, earlier tokens are refused. */
  revoke(): void
  /** Refuses so many requests for tokens with 429. */
  limit(requests: number, retryAfterSeconds: number): void
  /** Why a token does not open a container; null if it does. */
  refusal(container: string, parameters: URLSearchParams): string | null
}

const DEFAULT_LIFETIME_SECONDS = 45 * 60
const VERSION = '2024-05-04'

export function serveSas(app: FastifyInstance, prefix: string, containers: readonly string[], clock: Clock): Sas {
  let key = randomBytes(32)
  let limited = { requests: 0, retryAfterSeconds: 1 }
  let issued = 0
  const now = () => new Date(clock.now().getTime() + sas.aheadSeconds * 1000)
  const signatureOf = (container: string, expiry: string) =>
    createHmac('sha256', key).update([container, expiry, 'rl', 'c', VERSION].join('\n')).digest('base64')
  const sas: Sas = {
    get issued() {
      return issued
    },
    lifetimeSeconds: DEFAULT_LIFETIME_SECONDS,
    aheadSeconds: 0,
    revoke() {
      key = randomBytes(32)
    },
    limit(requests, retryAfterSeconds) {
      limited = { requests, retryAfterSeconds }
    },
    refusal(container, parameters) {
      const [expiry, signature] = [parameters.get('se') ?? '', Buffer.from(parameters.get('sig') ?? '')]
      const expected = Buffer.from(signatureOf(container, expiry))
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return 'Signature did not match'
      return Date.parse(expiry) > now().getTime() ? null : 'Signature not valid in the specified time frame'
    },
  }
  app.get<{ Params: { account: string; container: string } }>(`${prefix}/:account/:container`, async ({ params }, reply) => {
    reply.header('date', now().toUTCString())
    const name = `${params.account}/${params.container}`
    if (limited.requests > 0) {
      limited.requests--
      const message = `Rate limit is exceeded. Try again in ${limited.retryAfterSeconds} seconds.`
      return reply.status(429).header('retry-after', limited.retryAfterSeconds).send({ statusCode: 429, message })
    }
    if (!containers.includes(name)) return reply.status(404).send({ detail: 'No such container' })
    issued++
    const expiry = new Date(now().getTime() + sas.lifetimeSeconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
    const parameters = { se: expiry, sp: 'rl', sv: VERSION, sr: 'c', sig: signatureOf(name, expiry) }
    return { 'msft:expiry': expiry, token: new URLSearchParams(parameters).toString() }
  })
  return sas
}
