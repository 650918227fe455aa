import type { FastifyInstance } from 'fastify'
import { project, redirect, type Projecting } from './project.ts'

/** Shorter than the signed address lives: whoever keeps the redirect never holds a dead one. */
const KEPT_SECONDS = 600

/** The stable address of an asset: `items.asset.download` with all its checks and counts, answered as a redirect. */
export function registerAssets(app: FastifyInstance, projecting: Projecting): void {
  app.get<{ Params: { item_id: string; key: string } }>('/api/v1/items/:item_id/assets/:key', async (request, reply) => {
    const { item_id, key } = request.params
    const invoked = await project(projecting, 'items.asset.download', request, reply, () => ({ item_id, asset_id: key }))
    return redirect(reply, invoked, `private, max-age=${KEPT_SECONDS}`)
  })
}
