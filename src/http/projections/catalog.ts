/** Tiles of public imagery and scene previews by GET, for map clients and browsers, which cache them. */
import type { FastifyInstance } from 'fastify'
import { send } from '#http/operations.ts'
import { known, numbers, pick, project, queryOf, tilePlace, type TileParams } from './project.ts'
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
/** Map clients add `_` to bypass caches. */
const ANYWHERE = ['key', '_']
const NUMBER_PARAMETERS = [
  ['quality', 'Quality from 1 to 100, for lossy formats'],
  ['tile_size', 'Tile width and height in pixels: 256 or 512'],
] as const
const NUMBER_NAMES: readonly string[] = NUMBER_PARAMETERS.map(([name]) => name)
const TILE_NAMES = [...RENDERING_NAMES, ...NUMBER_NAMES, ...ANYWHERE]

const PREVIEWS = { thumbnail: 'catalog.image.thumbnail', quicklook: 'catalog.image.quicklook' } as const

export function registerCatalogRoutes(app: FastifyInstance, parts: RouteParts): void {
  type SceneTile = { Params: TileParams & { collection: string; scene: string } }
  app.get<SceneTile>('/api/v1/catalog/:collection/:scene/tiles/:z/:x/:row', async (request, reply) => {
    const place = tilePlace(request.params)
    const input = () => {
      const query = known(queryOf(request), TILE_NAMES)
      return {
        collection: request.params.collection,
        scene_id: request.params.scene,
        ...place,
        ...pick(query, RENDERING_NAMES),
        ...numbers(query, NUMBER_NAMES),
      }
    }
    return send(reply, await project(parts, 'catalog.tile.render', request, reply, input))
  })
  for (const [name, operation] of Object.entries(PREVIEWS))
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

/** For the OpenAPI document. */
export function catalogPaths(): Record<string, unknown> {
  const problems = Object.fromEntries(
    ['400', '401', '403', '404', '422', '429', '500'].map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]),
  )
  const image = (type: string) => ({
    '200': { description: 'The image', content: { [type]: { schema: { type: 'string', format: 'binary' } } } },
    '304': { description: 'Not modified: the image that `If-None-Match` names' },
    ...problems,
  })
  const previews = Object.entries(PREVIEWS).map(([name, operation]) => [
    `/api/v1/catalog/{host_name}/{image_id}/${name}`,
    {
      get: {
        operationId: `${operation}.get`,
        tags: ['catalog'],
        summary: `Get a preview image of a scene: \`${operation}\`.`,
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
        summary: 'Get a tile of public imagery: `catalog.tile.render` for map clients.',
        description: 'Append `@2x` to the row for 512 × 512 pixels.',
        security: [],
        parameters: [
          parameter('path', 'collection', 'Collection or provider name of the scene'),
          parameter('path', 'scene_id', 'Scene ID'),
          parameter('path', 'z', 'Zoom level, 0 to 24'),
          parameter('path', 'x', 'Tile column, counted from the west'),
          parameter('path', 'y', 'Tile row, counted from the north'),
          parameter('path', 'format', 'Image format: `webp`, `png`, `jpg` or `jpeg`'),
          ...RENDERING_PARAMETERS.map(([name, description]) => parameter('query', name, description)),
          ...NUMBER_PARAMETERS.map(([name, description]) => parameter('query', name, description)),
        ],
        responses: image('image/webp'),
      },
    },
    ...Object.fromEntries(previews),
  }
}
