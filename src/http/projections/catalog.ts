/** Public imagery and pictures of scenes by GET, for map clients and browsers, which keep what they have seen. */
import type { FastifyInstance } from 'fastify'
import { send } from '#http/operations.ts'
import { known, numeric, pick, project, queryOf, tilePlace, type TileParams } from './project.ts'
import type { RouteParts } from '#http/parts.ts'

const RENDERING_PARAMETERS = [
  ['visualization', 'Visualization, such as `rgb` or `ndvi`'],
  ['provider', 'Provider of the scene, if the collection has several'],
  ['expression', 'Band math expression, for example `(b4-b3)/(b4+b3)`'],
  ['colormap', 'Colormap name from `cog.colormaps`'],
  ['rescale', 'Value range of the colours as `min,max`'],
  ['aoi_clip', 'GeoJSON polygon; pixels outside are transparent'],
] as const
const RENDERING_NAMES: readonly string[] = RENDERING_PARAMETERS.map(([name]) => name)
/** Map clients add `_` to get past caches. */
const ANYWHERE = ['key', '_']
const TILE_NAMES = [...RENDERING_NAMES, 'quality', ...ANYWHERE]

const PICTURES = { thumbnail: 'catalog.image.thumbnail', quicklook: 'catalog.image.quicklook' } as const

export function registerCatalogRoutes(app: FastifyInstance, parts: RouteParts): void {
  type SceneTile = { Params: TileParams & { collection: string; scene: string } }
  app.get<SceneTile>('/api/v1/catalog/:collection/:scene/tiles/:z/:x/:row', async (request, reply) => {
    const { tile_size: _size, ...place } = tilePlace(request.params) as { tile_size?: number }
    const input = () => {
      const query = known(queryOf(request), TILE_NAMES)
      const quality = query['quality'] === undefined ? {} : { quality: numeric(query['quality']) }
      return {
        collection: request.params.collection,
        scene_id: request.params.scene,
        ...place,
        ...pick(query, RENDERING_NAMES),
        ...quality,
      }
    }
    return send(reply, await project(parts, 'catalog.tile.render', request, reply, input))
  })
  for (const [name, operation] of Object.entries(PICTURES))
    app.get<{ Params: { host: string; scene: string } }>(`/api/v1/catalog/:host/:scene/${name}`, async (request, reply) => {
      const input = () => {
        known(queryOf(request), ANYWHERE)
        return { host_name: request.params.host, image_id: request.params.scene }
      }
      return send(reply, await project(parts, operation, request, reply, input))
    })
}

const parameter = (place: 'path' | 'query', name: string, description: string) => ({
  name,
  in: place,
  required: place === 'path',
  description,
  schema: { type: 'string' },
})

/** For the published document. */
export function catalogPaths(): Record<string, unknown> {
  const problems = Object.fromEntries(
    ['400', '401', '403', '404', '422', '429', '500'].map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
  )
  const image = (type: string) => ({
    '200': { description: 'The image', content: { [type]: { schema: { type: 'string', format: 'binary' } } } },
    '304': { description: 'Not modified: the image that `If-None-Match` names' },
    ...problems,
  })
  const pictures = Object.entries(PICTURES).map(([name, operation]) => [
    `/api/v1/catalog/{host_name}/{image_id}/${name}`,
    {
      get: {
        operationId: `${operation}.get`,
        tags: ['catalog'],
        summary: `A picture of a scene by its address: \`${operation}\`.`,
        parameters: [parameter('path', 'host_name', 'Host name from `catalog.vendors.list`'), parameter('path', 'image_id', 'Scene ID')],
        responses: image('image/png'),
      },
    },
  ])
  return {
    '/api/v1/catalog/{collection}/{scene_id}/tiles/{z}/{x}/{y}.{format}': {
      get: {
        operationId: 'catalog.tile.render.get',
        tags: ['catalog'],
        summary: 'A tile of public imagery by its address: `catalog.tile.render` for map clients.',
        security: [],
        parameters: [
          parameter('path', 'collection', 'Collection or provider name of the scene'),
          parameter('path', 'scene_id', 'Scene ID'),
          parameter('path', 'z', 'Zoom level, 0 to 24'),
          parameter('path', 'x', 'Tile column, counted from the west'),
          parameter('path', 'y', 'Tile row, counted from the north'),
          parameter('path', 'format', 'Image format: `webp`, `png`, `jpg` or `jpeg`'),
          ...RENDERING_PARAMETERS.map(([name, description]) => parameter('query', name, description)),
          parameter('query', 'quality', 'Quality from 1 to 100, for lossy formats'),
        ],
        responses: image('image/webp'),
      },
    },
    ...Object.fromEntries(pictures),
  }
}
