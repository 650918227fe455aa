/** Every error leaves as a problem document (RFC 9457), also those of Fastify and of URLs that no route serves. */
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

/** Errors that Fastify raises, as problems of ours. */
const FRAMEWORK_PROBLEMS: Record<number, { slug: ProblemSlug; detail: string }> = {
  400: { slug: 'bad-request', detail: 'The request could not be read' },
  404: { slug: 'not-found', detail: 'There is nothing at this address' },
  413: { slug: 'payload-too-large', detail: 'The body is larger than this address takes' },
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
    throw problem('method-not-allowed', `${shownPath(url)} takes ${methods.join(' or ')}`, { headers: { Allow: methods.join(', ') } })
  }
  // Otherwise Fastify would reject its body first; no route takes this method.
  app.addHook('onRequest', async ({ method, url }) => {
    if (method === 'QUERY') requireOtherMethod(url)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = shownPath(request.url)
    requireOtherMethod(request.url)
    if (request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? ''))
      return sendPage(reply.code(404), notFoundPage(path))
    throw problem('not-found', `There is nothing at ${path}`)
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
