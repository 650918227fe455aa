import type { FastifyInstance } from 'fastify'
import { project, redirect } from './project.ts'
import type { RouteParts } from '#http/parts.ts'
import { parameter, problemResponses } from './tiles.ts'

/** Shorter than the signed URL is valid, so that a cached redirect never leads to an expired one. */
const KEPT_SECONDS = 600

/** The stable URL of an asset: `items.asset.download`, with all its checks, as a redirect. */
export function registerAssets(app: FastifyInstance, parts: RouteParts): void {
  app.get<{ Params: { item_id: string; key: string } }>('/api/v1/items/:item_id/assets/:key', async (request, reply) => {
    const { item_id, key } = request.params
    const invoked = await project(parts, 'items.asset.download', request, reply, () => ({ item_id, asset_id: key }))
    return redirect(reply, invoked, `private, max-age=${KEPT_SECONDS}`)
  })
}

/** For the OpenAPI document. */
export function assetPaths(): Record<string, unknown> {
  return {
    '/api/v1/items/{item_id}/assets/{asset_key}': {
      get: {
        operationId: 'items.asset.download.get',
        tags: ['items'],
        summary: 'Download a file from its stable URL: `items.asset.download` as a redirect.',
        description: 'Redirects to a signed URL that supports range requests and expires after 15 minutes.',
        parameters: [
          parameter('path', 'item_id', 'Item ID'),
          parameter('path', 'asset_key', 'Asset key, such as `data`, or asset ID'),
          parameter('query', 'key', 'API key, for clients that cannot send headers'),
        ],
        responses: {
          '302': {
            description: 'Redirect to the file',
            headers: { Location: { description: 'Signed download URL', schema: { type: 'string', format: 'uri' } } },
          },
          ...problemResponses(400, 401, 403, 404, 410, 422, 429, 500),
        },
      },
    },
  }
}
