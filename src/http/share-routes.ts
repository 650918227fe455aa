/** Shared maps and files by GET, for tools that can only follow an address. Each is the operation of its name, opened by the grant in the address. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '#core/problem.ts'
import { GRANT_PREFIX } from '#core/share-grant.ts'
import type { AnyOperation } from '#operation.ts'
import { invoke, type Invoked } from '#pipeline/invoke.ts'
import type { Platform } from '#pipeline/platform.ts'
import { abortedWith, send } from './operations.ts'

type Observe = (request: FastifyRequest, op: AnyOperation, invoked: Invoked) => void

const TILE_FILE = /^(\d{1,8})(@2x)?\.(png|webp|jpg|jpeg)$/
const WHOLE_NUMBER = /^\d{1,8}$/

export function registerShareRoutes(app: FastifyInstance, platform: Platform, observe: Observe): void {
  const run = async (request: FastifyRequest, reply: FastifyReply, id: string, input: Record<string, unknown>): Promise<Invoked> => {
    const op = platform.operations.get(id)!
    const invoked = await invoke(platform, op, { credential: null, body: () => input, idempotencyKey: null, ifNoneMatch: request.headers['if-none-match'] ?? null, clientAddress: request.ip, signal: abortedWith(reply) })
    observe(request, op, invoked)
    return invoked
  }

  app.get('/api/v1/share/tilejson.json', async (request, reply) => send(reply, await run(request, reply, 'share.tilejson', lookOf(request))))

  app.get<{ Params: { z: string; x: string; file: string } }>('/api/v1/share/tiles/:z/:x/:file', async (request, reply) => {
    const { z, x, file } = request.params
    const [, y, twice, format] = TILE_FILE.exec(file) ?? []
    if (y === undefined || !WHOLE_NUMBER.test(z) || !WHOLE_NUMBER.test(x)) throw problem('not-found', 'There is no such tile; its address ends in {z}/{x}/{y}.png, .webp or .jpg')
    const input = { ...lookOf(request), z: Number(z), x: Number(x), y: Number(y), format, ...(twice ? { tile_size: 512 } : {}) }
    return send(reply, await run(request, reply, 'share.tile.render', input))
  })

  app.get<{ Params: { asset_id: string } }>('/api/v1/share/assets/:asset_id', async (request, reply) => {
    const invoked = await run(request, reply, 'share.asset.download', { token: grantOf(request), asset_id: request.params.asset_id })
    if (invoked.status !== 200) return send(reply, invoked)
    const { url } = JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as { url: string }
    const { 'Content-Type': _json, ...headers } = invoked.headers
    return reply.code(302).headers({ ...headers, Location: url, 'Cache-Control': 'private, no-store' }).send()
  })
}

/** Text that stands in the query once; whatever else is left to the operation to refuse. */
function textOf(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : undefined
}

/** A password has no place in an address, so nothing but a grant opens a link here. */
function grantOf(request: FastifyRequest): string {
  const grant = textOf(request, 'grant')
  return grant?.startsWith(GRANT_PREFIX) ? grant : GRANT_PREFIX
}

function lookOf(request: FastifyRequest): Record<string, unknown> {
  const profile = textOf(request, 'profile')
  return { token: grantOf(request), ...(profile === undefined ? {} : { profile }) }
}
