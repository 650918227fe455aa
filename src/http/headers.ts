import { PREFLIGHT_SECONDS } from '#core/time.ts'
import type { FastifyInstance } from 'fastify'
import type { Platform } from '#pipeline/platform.ts'
import { pathOf, type MethodsOf } from './methods.ts'

const ALLOWED = 'Authorization, X-API-Key, Content-Type, Idempotency-Key, If-None-Match, Range, Last-Event-ID'
const EXPOSED =
  'RateLimit, RateLimit-Policy, Retry-After, ETag, Content-Disposition, Idempotent-Replayed, X-Svc-Invocation-ID, WWW-Authenticate, Link'
/** What scripts of other origins may use, whatever an address takes. */
const METHODS = 'GET, HEAD, POST, OPTIONS'

/** Documents of ours run scripts of ours; everything else runs nothing. `blob:` lets the reference show a tile it was sent. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
/** The public page of a share: a map, so workers too; and nothing from anywhere else. A download is a link, not a request of the page. */
export const SHARE_POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** What the map's worker may do: fetch from us, run what it came with. */
export const WORKER_POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"
const API_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Any origin may call: credentials travel in headers, never in cookies, so a foreign page has none to abuse. */
export const COMMON_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': API_POLICY,
} as const

/** What is for whoever runs the service, and no script of another origin needs. */
const NOT_SHARED = /^\/(metrics|welcome|docs\/demo\.json|sandbox\/.*)$/

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
}
