import type { FastifyInstance } from 'fastify'
import { isTracing, startSpan, withSpan } from '#core/tracing.ts'

/** Probes and scrapes come every few seconds and would be most of what is recorded. */
const UNTRACED = new Set(['/health', '/ready', '/metrics'])
const SERVER_ERROR = 500

/**
 * One span for each request, which continues the trace that its caller sends in `traceparent`. By route and not by path, which can
 * contain the token of a share link.
 */
export function registerRequestTraces(app: FastifyInstance): void {
  if (!isTracing()) return
  app.addHook('onRequest', (request, reply, done) => {
    const { method, routeOptions, headers } = request
    const route = routeOptions.url ?? 'none'
    const parent = headers['traceparent']
    const attributes = { 'http.request.method': method, 'http.route': route, 'url.scheme': request.protocol }
    const span = UNTRACED.has(route)
      ? null
      : startSpan(`${method} ${route}`, typeof parent === 'string' ? parent : null, { kind: 'server', attributes })
    if (!span) return done()
    reply.raw.once('close', () => {
      const { statusCode } = reply
      span.set({ 'http.response.status_code': statusCode })
      if (statusCode >= SERVER_ERROR) span.fail(statusCode)
      span.end()
    })
    withSpan(span, done)
  })
}
