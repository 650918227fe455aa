import type { FastifyRequest } from 'fastify'
import type { Credential } from '#access/authenticate.ts'

/** STAC clients are configured with one URL, which includes the key, and search with POST. */
const STAC_PATH = /^\/stac(?=[/?]|$)/

/**
 * `Authorization` first, then `X-API-Key`, then `key=` on GET and HEAD, and on every method of the STAC API; the two fallbacks
 * accept API keys only.
 */
export function credentialOf(request: FastifyRequest): Credential {
  const authorization = request.headers.authorization
  if (authorization !== undefined) {
    const [scheme, secret, rest] = authorization.trim().split(/\s+/)
    const isBearer = scheme?.toLowerCase() === 'bearer' && secret !== undefined && rest === undefined
    return { via: 'bearer', secret: isBearer ? secret : '' } // Another scheme is an invalid credential, not a missing one.
  }
  const header = request.headers['x-api-key']
  if (typeof header === 'string') return { via: 'key', secret: header.trim() }
  const query = (request.query as Record<string, unknown> | null)?.['key']
  const takesQuery = request.method === 'GET' || request.method === 'HEAD' || STAC_PATH.test(request.url)
  if (takesQuery && typeof query === 'string') return { via: 'key', secret: query }
  return null
}
