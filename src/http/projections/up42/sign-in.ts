/** Sign-in for UP42's clients: the password grant of OAuth 2.0 (RFC 6749 §4.3), and the userinfo document. */
import Type from 'typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Problem, notFound, problem, withMembers } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import { validateInput } from '#core/validate.ts'
import { signInFrom, type SignInParts } from '#http/auth.ts'
import { parseJson } from '#http/body.ts'
import { send } from '#http/operations.ts'
import { project, queryOf } from '#http/projections/project.ts'
import type { RouteParts } from '#http/parts.ts'

const REALM = '/realms/public/protocol/openid-connect'

const Credentials = Closed({
  username: Type.String({ minLength: 1, maxLength: 254 }),
  password: Type.String({ minLength: 1, maxLength: 1_000 }),
})

export function registerUp42SignIn(app: FastifyInstance, parts: RouteParts & SignInParts): void {
  app.post(`${REALM}/token`, async (request, reply) => {
    reply.header('Cache-Control', 'no-store')
    try {
      const { username, password } = credentialsOf(request)
      const { access_token, token_type, expires_in } = await signInFrom(parts, request, { email: username, password })
      return { access_token, token_type, expires_in, scope: 'openid' }
    } catch (error) {
      throw error instanceof Problem ? asOAuthError(error) : error
    }
  })
  app.get(`${REALM}/userinfo`, async (request, reply) => userInfo(parts, request, reply))
}

/** Other parameters, such as `client_id`, are ignored (RFC 6749 §3.2). */
function credentialsOf({ body, headers }: FastifyRequest): { username: string; password: string } {
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
    throw problem('unsupported-media-type', 'Send Content-Type: application/x-www-form-urlencoded')
  const form = new URLSearchParams(Buffer.from((body as Buffer | undefined) ?? []).toString())
  if (form.get('grant_type') !== 'password')
    throw problem('bad-request', 'grant_type must be password', { members: { error: 'unsupported_grant_type' } })
  const fields = Object.fromEntries(['username', 'password'].flatMap((name) => (form.has(name) ? [[name, form.get(name)]] : [])))
  // Strings that are rejected in JSON bodies are rejected in forms, too.
  const harmless = parseJson(Buffer.from(JSON.stringify(fields)))
  return validateInput(Credentials, harmless) as { username: string; password: string }
}

/** OAuth clients read these two members (RFC 6749 §5.2). */
function asOAuthError(problem: Problem): Problem {
  const error = problem.status === 401 ? 'invalid_grant' : 'invalid_request'
  return withMembers(problem, { error, error_description: problem.message, ...problem.members })
}

interface Listed {
  projects: { id: string; role: string | null; is_archived: boolean }[]
}

const MAX_PROJECTS = 1_000

/**
 * The client uses `sub` as its workspace, so `sub` is a project: the one that `workspaceId` in the query names, otherwise the
 * oldest that the caller can change, otherwise the oldest. A user without a project can still search.
 */
async function userInfo(parts: RouteParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const invoked = await project(parts, 'projects.list', request, reply, () => ({ limit: MAX_PROJECTS }))
  if (invoked.status !== 200) return send(reply, invoked)
  const projects = (JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as Listed).projects.toReversed()
  const named = queryOf(request)['workspaceId']
  const chosen =
    named === undefined
      ? (projects.find(({ role }) => role === 'admin' || role === 'editor') ?? projects[0])
      : projects.find(({ id }) => id === named)
  if (!chosen && named !== undefined) throw notFound('project')
  const { principal, organizationId } = invoked.trace
  const userId = principal?.userId ?? null
  const body = { sub: chosen?.id ?? userId, user_id: userId, account_id: organizationId }
  return send(reply, { ...invoked, body: Buffer.from(JSON.stringify(body)) })
}
