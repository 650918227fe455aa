import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { nearest } from '#core/nearest.ts'
import { problem, type Problem } from '#core/problem.ts'
import type { AnyOperation } from '#operation.ts'
import type { RouteParts } from './parts.ts'
import { invoke, type Invoked } from '#pipeline/invoke.ts'
import type { Platform } from '#pipeline/platform.ts'
import { callerAddress } from './caller.ts'
import type { Principal } from '#core/principal.ts'
import { parseBody, requireKind } from './body.ts'
import { createLargeBodies, type LargeBodies } from './large-body.ts'
import { PUBLIC_BYTES, readRequest, READS_BODY, STANDARD_BYTES } from './read-body.ts'
import { credentialOf } from './credential.ts'

/** `POST /v1/op/{id}` and `POST /v1/{resource}/{action}`: two URLs of the same operation. */
export function registerOperations(app: FastifyInstance, { platform, observe }: RouteParts): void {
  const large = createLargeBodies()
  app.addHook('onClose', () => large.close())
  app.all<{ Params: { '*': string } }>('/v1/*', READS_BODY, async (request, reply) => {
    const op = platform.operations.get(operationId(request.params['*']))
    if (!op) throw unknownOperation(platform, operationId(request.params['*']))
    if (request.method !== 'POST') throw problem('method-not-allowed', `Invoke '${op.id}' with POST`, { headers: { Allow: 'POST' } })
    let signal: AbortSignal | null = null
    let bodyHash: Buffer | null = null
    const invoked = await invoke(platform, op, {
      credential: credentialOf(request),
      body: async (principal) => {
        const { value, hash } = await bodyOf(request, op, large, principal)
        bodyHash = hash
        return value
      },
      bodyHash: () => bodyHash,
      bodyBytes: Number(request.headers['content-length'] ?? 0),
      idempotencyKey: idempotencyKeyOf(request),
      ifNoneMatch: request.headers['if-none-match'] ?? null,
      clientAddress: callerAddress(request),
      get signal() {
        return (signal ??= abortedWith(reply))
      }, // Created on demand: most operations finish before a client could disconnect.
    })
    observe(request, op, invoked)
    return send(reply, invoked)
  })
}

function unknownOperation({ operations }: Platform, id: string): Problem {
  const shown = [...operations.values()].filter(({ scope }) => !scope.startsWith('admin:')).map((op) => op.id)
  const meant = nearest(id, shown)
  const hint = meant ? `; did you mean ${meant}?` : ''
  return problem('unknown-operation', `No such operation${hint || '; GET /openapi.json lists all operations'}`)
}

/** The body of an authorized call, and its hash if the parser computed it. */
async function bodyOf(
  request: FastifyRequest,
  op: AnyOperation,
  large: LargeBodies,
  principal: Principal,
): Promise<{ value: Record<string, unknown>; hash: Buffer | null }> {
  const { 'content-type': type, 'content-encoding': encoding, 'content-length': length } = request.headers
  const maxBytes = op.public ? PUBLIC_BYTES : (op.maxBodyBytes ?? STANDARD_BYTES)
  const isLarge =
    maxBytes > STANDARD_BYTES &&
    (length === undefined ? request.headers['transfer-encoding'] !== undefined : Number(length) > STANDARD_BYTES)
  if (!isLarge) return { value: parseBody(await readRequest(request, maxBytes), type, encoding), hash: null }
  requireKind(type, encoding)
  const owner = principal.organizationId ?? principal.userId ?? callerAddress(request)
  return await large.parse(owner, () => readRequest(request, maxBytes))
}

/** Dots and slashes never mix: each operation has exactly two URLs. */
function operationId(path: string): string {
  if (path.startsWith('op/')) return path.slice('op/'.length)
  return path.includes('.') ? '' : path.replaceAll('/', '.')
}

export function idempotencyKeyOf(request: FastifyRequest): string | null {
  const header = request.headers['idempotency-key']
  return header === undefined ? null : String(header)
}

/** Aborts when the client disconnects before the response is complete. */
export function abortedWith(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (reply.raw.destroyed) controller.abort()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

export function send(reply: FastifyReply, { status, headers, body }: Pick<Invoked, 'status' | 'headers' | 'body'>): FastifyReply {
  reply.code(status).headers(headers)
  return reply.send(body instanceof Uint8Array ? body : Readable.from(body, { objectMode: false }))
}
