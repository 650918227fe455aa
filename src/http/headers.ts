import { PREFLIGHT_SECONDS } from '#core/time.ts'
import type { FastifyInstance } from 'fastify'
import type { Platform } from '#pipeline/platform.ts'
import { pathOf, type MethodsOf } from './methods.ts'

const ALLOWED = 'Authorization, X-API-Key, Content-Type, Idempotency-Key, If-None-Match, Range, Last-Event-ID'
const EXPOSED =
  'RateLimit, RateLimit-Policy, Retry-After, ETag, Content-Disposition, Idempotent-Replayed, X-Svc-Invocation-ID, WWW-Authenticate, Link'
/** Methods that scripts of other origins can use on any URL. */
const METHODS = 'GET, HEAD, POST, OPTIONS'

/** Our pages run only our scripts; other responses run none. `blob:` lets the reference show the tiles it receives. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
/** The public page of a share link: its map needs workers. Downloads are links, not requests of the page. */
export const SHARE_POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** The same page for pages of other hosts: it has no session that a click could be tricked out of, only what its visitor enters. */
export const EMBED_POLICY = SHARE_POLICY.replace("frame-ancestors 'none'", 'frame-ancestors *')
/** The welcome page: a map as above, and a form that leads to the console. */
export const WELCOME_POLICY = SHARE_POLICY.replace("form-action 'none'", "form-action 'self'")
/** Our pages can ask for the visitor's location, to show imagery of it. What they embed cannot. */
export const PERMISSIONS_POLICY = 'geolocation=(self)'
/** For the map's worker: it can fetch from this service and run its own file. */
export const WORKER_POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"
const API_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Any origin can call the API: credentials are sent in headers, not cookies, so another site has none to abuse. */
export const COMMON_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': API_POLICY,
} as const

/** URLs for the operator, and maps that the operator pays for, which scripts of other origins do not need. */
const NOT_SHARED = /^\/(metrics|welcome|docs\/demo\.json|sandbox\/.*|assets\/maps(?:\/.*)?)$/

interface HeaderParts {
  platform: Pick<Platform, 'baseUrl'>
  methodsOf: MethodsOf
}

export function registerHeaders(app: FastifyInstance, { platform, methodsOf }: HeaderParts): void {
  const transport: Record<string, string> = platform.baseUrl().startsWith('https:')
    ? { 'Strict-Transport-Security': 'max-age=31536000' }
    : {}
  const shared = { ...COMMON_HEADERS, ...transport }
  const { 'Access-Control-Allow-Origin': _origin, 'Access-Control-Expose-Headers': _exposed, ...own } = shared
  const notShared = { ...own, 'Cross-Origin-Resource-Policy': 'same-origin' }
  app.addHook('onRequest', (request, reply, done) => {
    const path = pathOf(request.url)
    const isShared = !NOT_SHARED.test(path)
    reply.headers(isShared ? shared : notShared)
    if (request.method !== 'OPTIONS') return done()
    reply.header('Allow', [...methodsOf(path), 'OPTIONS'].join(', '))
    if (isShared)
      reply.headers({
        'Access-Control-Allow-Methods': METHODS,
        'Access-Control-Allow-Headers': ALLOWED,
        'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
      })
    reply.code(204).send()
  })
  // No cache, of a browser or a CDN, keeps a failure, or anything that does not say that it may be kept.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (reply.statusCode >= 400 || !reply.hasHeader('Cache-Control')) reply.header('Cache-Control', 'no-store')
    done(null, payload)
  })
}
