/**
 * The refresh token as a browser cookie, on request: scripts cannot read it, and other sites cannot send it. Two routes read it,
 * after they have checked the origin of the request; all other routes ignore cookies.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '#core/problem.ts'
import { isLoopbackName } from './local.ts'

const NAME = 'groundtrack_refresh'
/** As long as the session itself. */
const LIFETIME_SECONDS = 30 * 86_400

export interface CookieTerms {
  baseUrl: () => string
  isLocal: boolean
}

/** Browsers accept the prefix over https only, so another service on plain http cannot plant the cookie. */
const nameOf = (isSecure: boolean) => (isSecure ? `__Secure-${NAME}` : NAME)

function isSecure(request: FastifyRequest, { baseUrl }: CookieTerms): boolean {
  return baseUrl().startsWith('https:') || request.protocol === 'https'
}

export function setRefreshCookie(request: FastifyRequest, reply: FastifyReply, terms: CookieTerms, token: string): void {
  write(request, reply, terms, token, LIFETIME_SECONDS)
}

export function clearRefreshCookie(request: FastifyRequest, reply: FastifyReply, terms: CookieTerms): void {
  write(request, reply, terms, '', 0)
}

function write(request: FastifyRequest, reply: FastifyReply, terms: CookieTerms, value: string, seconds: number): void {
  const secure = isSecure(request, terms)
  const parts = [`${nameOf(secure)}=${value}`, 'Path=/auth', `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Strict']
  reply.removeHeader('Set-Cookie')
  reply.header('Set-Cookie', [...parts, ...(secure ? ['Secure'] : [])].join('; '))
}

/** Null if there is none. A cookie from another origin is rejected, and so are two: one of them may have been planted. */
export function readRefreshCookie(request: FastifyRequest, terms: CookieTerms): string | null {
  const expected = nameOf(isSecure(request, terms))
  const values = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim().split('='))
    .filter(([name]) => name === expected)
    .map(([, value]) => value ?? '')
  if (values.length === 0) return null
  if (!isOwnOrigin(request, terms)) throw problem('forbidden', 'The refresh cookie is only accepted from pages of this service')
  return values.length === 1 && values[0] ? values[0] : null
}

/** Browsers send `Origin` with every POST, and a page cannot forge it. */
function isOwnOrigin(request: FastifyRequest, { baseUrl, isLocal }: CookieTerms): boolean {
  const { origin, host } = request.headers
  const site = request.headers['sec-fetch-site']
  const from = URL.parse(origin ?? '')
  if (!from || (site !== undefined && site !== 'same-origin')) return false
  if (from.origin === new URL(baseUrl()).origin) return true
  // Users type `localhost` where BASE_URL is 127.0.0.1.
  return isLocal && from.protocol === 'http:' && from.host === host && isLoopbackName(from.hostname)
}
