import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AnyOperation } from '#operation.ts'
import { invoke, type Invoked } from '#pipeline/invoke.ts'
import type { Platform } from '#pipeline/platform.ts'
import { credentialOf } from '#http/credential.ts'
import { abortedWith, send } from '#http/operations.ts'

/** Shorter than the signed address lives: whoever keeps the redirect never holds a dead one. */
const KEPT_SECONDS = 600

/** The stable address of an asset: `items.asset.download` with all its checks and counts, answered as a redirect. */
export function registerAssets(
  app: FastifyInstance,
  platform: Platform,
  observe: (request: FastifyRequest, op: AnyOperation, invoked: Invoked) => void,
): void {
  app.get<{ Params: { item_id: string; key: string } }>('/api/v1/items/:item_id/assets/:key', async (request, reply) => {
    const op = platform.operations.get('items.asset.download')!
    const { item_id, key } = request.params
    const invoked = await invoke(platform, op, {
      credential: credentialOf(request),
      body: () => ({ item_id, asset_id: key }),
      idempotencyKey: null,
      clientAddress: request.ip,
      signal: abortedWith(reply),
    })
    observe(request, op, invoked)
    if (invoked.status !== 200) return send(reply, invoked)
    const { url } = JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as { url: string }
    const { 'Content-Type': _json, ...headers } = invoked.headers
    return reply
      .code(302)
      .headers({ ...headers, Location: url, 'Cache-Control': `private, max-age=${KEPT_SECONDS}`, Vary: 'Authorization, X-API-Key' })
      .send()
  })
}
