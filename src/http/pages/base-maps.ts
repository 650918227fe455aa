/** The operator's base maps, read through this service: `/assets/maps`. Public, as the built-in map is, because share pages show them. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { THEMES, type BaseMapFile, type BaseMaps, type Theme } from '#core/base-maps.ts'
import { problem } from '#core/problem.ts'

const HOUR_SECONDS = 3_600
const PLACE = /^(\d{1,2})\/(\d{1,8})\/(\d{1,8})$/
const SPRITE = /^(\d{1,2})((?:@2x)?\.(?:json|png))$/
const MAX_ZOOM = 24

export function registerBaseMaps(app: FastifyInstance, { baseMaps }: { baseMaps?: BaseMaps | undefined }): void {
  app.get('/assets/maps', async (_request, reply) => reply.header('Cache-Control', 'no-cache').send({ maps: baseMaps?.list ?? [] }))
  if (!baseMaps) return
  app.get<{ Params: { map: string }; Querystring: { theme?: string } }>('/assets/maps/:map/style', async ({ params, query }, reply) => {
    const theme = (THEMES as readonly string[]).includes(query.theme ?? '') ? (query.theme as Theme) : 'light'
    const document = await baseMaps.style(params.map, { theme, prefix: `/assets/maps/${encodeURIComponent(params.map)}` })
    return reply.header('Cache-Control', 'no-cache').send(document)
  })
  app.get<{ Params: { map: string; source: string; '*': string } }>('/assets/maps/:map/tiles/:source/*', async ({ params }, reply) => {
    const [z, x, y] = (PLACE.exec(params['*']) ?? []).slice(1).map(Number)
    if (z === undefined || z > MAX_ZOOM || Math.max(x!, y!) >= 2 ** z) throw problem('not-found', 'No such tile of the base map')
    return send(reply, await baseMaps.tile(params.map, params.source, { z, x: x!, y: y! }), 204)
  })
  app.get<{ Params: { map: string; '*': string } }>('/assets/maps/:map/sprites/*', async ({ params }, reply) => {
    const [, sprite, suffix] = SPRITE.exec(params['*']) ?? []
    if (sprite === undefined) throw problem('not-found', 'No such sprite of the base map')
    return send(reply, await baseMaps.sprite(params.map, sprite, suffix!), 404)
  })
  app.get<{ Params: { map: string; source: string } }>('/assets/maps/:map/data/:source', async ({ params }, reply) =>
    send(reply, await baseMaps.data(params.map, params.source), 404),
  )
}

function send(reply: FastifyReply, file: BaseMapFile | null, otherwise: 204 | 404): FastifyReply {
  if (!file && otherwise === 404) throw problem('not-found', 'No such file of the base map')
  reply.header('Cache-Control', `public, max-age=${HOUR_SECONDS}`)
  return file ? reply.type(file.type).send(file.bytes) : reply.code(204).send()
}
