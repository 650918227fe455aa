import type { FastifyRequest } from 'fastify'
import type { Credential } from '#access/authenticate.ts'

/** STAC clients are configured with one URL, which includes the key, and search with POST. */
const STAC_PATH = /^\/stac(?=[/?]|$)/

/**
 * `Authorization` first, then `X-API-Key`, then `key=` on GET and HEAD, and on every method of the STAC API. Only a bearer can be a
 * session token; all others are API keys.
 */
export function credentialOf(request: FastifyRequest): Credential {
  const authorization = request.headers.authorization
  if (authorization !== undefined) {
    const [scheme, secret, rest] = authorization.trim().split(/\s+/)
    const isOne = secret !== undefined && rest === undefined
    if (isOne && scheme?.toLowerCase() === 'basic') return { via: 'key', secret: basicKey(secret) }
    const isBearer = isOne && scheme?.toLowerCase() === 'bearer'
    return { via: 'bearer', secret: isBearer ? secret : '' } // Another scheme is an invalid credential, not a missing one.
  }
  const header = request.headers['x-api-key']
  if (typeof header === 'string') return { via: 'key', secret: header.trim() }
  const query = (request.query as Record<string, unknown> | null)?.['key']
  const takesQuery = request.method === 'GET' || request.method === 'HEAD' || STAC_PATH.test(request.url)
  if (takesQuery && typeof query === 'string') return { via: 'key', secret: query }
  return null
}

/** Desktop programs such as QGIS and GDAL store a user name and a password: the key is the password, or the name if there is none. */
function basicKey(encoded: string): string {
  const pair = Buffer.from(encoded, 'base64').toString()
  const border = pair.indexOf(':')
  if (border < 0) return ''
  return pair.slice(border + 1) || pair.slice(0, border)
}
