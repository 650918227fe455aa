/** Every error is a problem document (RFC 9457), including errors of Fastify and URLs without a route. */
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import { newId } from '#core/ids.ts'
import { Problem, problem, type ProblemSlug } from '#core/problem.ts'
import { asProblem, concernsOperator } from '#pipeline/outside-problems.ts'
import type { Platform } from '#pipeline/platform.ts'
import { problemReply } from '#pipeline/reply.ts'
import { redact } from './log.ts'
import { pathOf, type MethodsOf } from './methods.ts'
import { send } from './operations.ts'
import { notFoundPage, sendPage } from './pages/layout.ts'

/** Problems for errors that Fastify raises, by status. */
const FRAMEWORK_PROBLEMS: Record<number, { slug: ProblemSlug; detail: string }> = {
  400: { slug: 'bad-request', detail: 'Malformed HTTP request' },
  404: { slug: 'not-found', detail: 'No such URL' },
  413: { slug: 'payload-too-large', detail: 'The request body is too large' },
  415: { slug: 'unsupported-media-type', detail: 'Send Content-Type: application/json' },
  503: { slug: 'unavailable', detail: 'The service is stopping' },
}

interface ErrorParts {
  platform: Platform
  methodsOf: MethodsOf
}

export function registerErrors(app: FastifyInstance, { platform, methodsOf }: ErrorParts): void {
  const shownPath = (url: string) => redact(pathOf(url).slice(0, 200))
  const requireOtherMethod = (url: string) => {
    const methods = methodsOf(pathOf(url)).filter((method) => method !== 'HEAD')
    if (methods.length === 0) return
    throw problem('method-not-allowed', `${shownPath(url)} only supports ${methods.join(' and ')}`, {
      headers: { Allow: methods.join(', ') },
    })
  }
  // Otherwise Fastify would reject its body first; no route supports this method.
  app.addHook('onRequest', async ({ method, url }) => {
    if (method === 'QUERY') requireOtherMethod(url)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = shownPath(request.url)
    requireOtherMethod(request.url)
    if (request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? ''))
      return sendPage(reply.code(404), notFoundPage(path))
    throw problem('not-found', `No such URL: ${path}`)
  })
  app.setErrorHandler((error: FastifyError | Problem, _request, reply) => sendError(platform, error, reply))
}

export function sendError(platform: Platform, error: FastifyError | Problem, reply: FastifyReply): FastifyReply {
  const known = error instanceof Problem ? null : FRAMEWORK_PROBLEMS[error.statusCode ?? 500]
  const shown = known ? new Problem(known.slug, known.detail) : (asProblem(error) ?? error)
  const invocationId = newId()
  if (!(shown instanceof Problem) || concernsOperator(error)) platform.onFault(error, invocationId, 'http')
  return send(reply, problemReply(shown, invocationId, platform.baseUrl()))
}
