import type { FastifyInstance, FastifyRequest } from 'fastify'
import { gridOfName } from '#wire/wmts.ts'
import { credentialOf } from '#http/credential.ts'
import { send } from '#http/operations.ts'
import { isData, known, numbers, pick, project, projectAs, queryOf, tilePlace, type TileParams } from './project.ts'
import { keptUntil, signatureOf } from './signed.ts'
import type { RouteParts } from '#http/parts.ts'

/** Resources with tiles: the name of the ID, and the operations. */
const LAYERS = [
  { root: 'items', id: 'item_id', render: 'items.tile.render', tilejson: 'items.tile.tilejson' },
  { root: 'collections', id: 'collection_id', render: 'collections.tile.render', tilejson: 'collections.tile.tilejson' },
] as const

/** Parameters of the style; a profile combines all of them. */
export const DRAWING: readonly string[] = ['bands', 'expression', 'rescale', 'colormap']
const LOOK = ['profile', 'asset_key', ...DRAWING]

/** Results of analytics have a fixed style. */
const RESULT = { path: '/api/v1/analytics', id: 'result_id', render: 'analytics.result.tile' } as const

/** `…/tiles/{z}/{x}/{y}.webp` for items, collections and results of analytics, and `…/tilejson.json` for the first two. */
export function registerTiles(app: FastifyInstance, parts: RouteParts): void {
  app.get<{ Params: TileParams & { id: string } }>(`${RESULT.path}/:id/tiles/:z/:x/:row`, async (request, reply) => {
    const place = tilePlace(request.params)
    const input = () => ({
      [RESULT.id]: request.params.id,
      ...place,
      ...numbers(known(queryOf(request), RESULT_NAMES), ['quality', 'tile_size']),
    })
    return send(reply, await project(parts, RESULT.render, request, reply, input))
  })
  for (const { root, id, render, tilejson } of LAYERS) {
    app.get<{ Params: TileParams & { id: string } }>(`/api/v1/${root}/:id/tiles/:z/:x/:row`, async (request, reply) => {
      const grid = root === 'items' ? gridOfName(request.params.z) : null
      const place = tilePlace(grid ? { ...request.params, z: '0' } : request.params, { hasData: root === 'items' && !grid })
      const input = () =>
        grid
          ? gridTile(request, place, grid)
          : {
              [id]: request.params.id,
              ...place,
              ...tileQuery(request),
              ...(root === 'items' ? numbers(queryOf(request), ['v']) : {}),
            }
      const { signature, ...parameters } = queryOf(request)
      // A signature is for the colours of one style; who passes it on does not pass on the samples.
      const signed = isData(request.params) ? null : signatureOf(signature, { kind: root, id: request.params.id, parameters })
      const credential = credentialOf(request) ?? signed
      const invoked = await projectAs(parts, grid ? 'items.tile.wmts_get_tile' : render, { request, reply, credential }, input)
      return send(reply, keptUntil(invoked, credential, parts.platform.services.clock.now()))
    })
    app.get<{ Params: { id: string } }>(`/api/v1/${root}/:id/tilejson.json`, async (request, reply) => {
      const query = queryOf(request)
      const input = () => ({
        [id]: request.params.id,
        ...pick(known(query, TILEJSON_NAMES), ['profile', 'asset_key', 'format', 'key']),
        ...numbers(query, ['tile_size', 'signed_seconds']),
      })
      return send(reply, await project(parts, tilejson, request, reply, input))
    })
  }
}

/** A tile of a WMTS matrix; its clients send the matrix name in place of the zoom level. */
const gridTile = (request: FastifyRequest<{ Params: { id: string } }>, place: object, grid: object): object => ({
  item_id: request.params.id,
  ...place,
  grid,
  ...pick(known(queryOf(request), TILE_NAMES), ['profile', 'asset_key']),
})

function tileQuery(request: FastifyRequest): Record<string, unknown> {
  const query = known(queryOf(request), TILE_NAMES)
  return { ...pick(query, LOOK), ...numbers(query, ['quality', 'tile_size']) }
}

const TILE_PARAMETERS = [
  ['profile', 'Visualization profile ID, or a derived visualization such as `rgb` or `ndvi`'],
  ['asset_key', 'Asset key, for items with several rasters'],
  ['bands', '1-based band numbers, such as `4,3,2`'],
  ['expression', 'Band math expression, for example `(b4-b3)/(b4+b3)`'],
  ['rescale', 'Value range of the colours as `min,max`'],
  ['colormap', 'Colormap name from `cog.colormaps`'],
  ['quality', 'Quality of lossy formats, 1 to 100'],
  ['tile_size', 'Tile width and height in pixels: 256 or 512'],
  ['key', 'API key, for clients that cannot send headers'],
  ['signature', 'Signature from a TileJSON or WMTS capabilities that were requested with `signed_seconds`, instead of a credential'],
] as const

/** `v` is the version in URLs of the TileJSON; map clients add `_` to bypass caches. */
const TILE_NAMES: readonly string[] = [...TILE_PARAMETERS.map(([name]) => name), 'v', '_']
const RESULT_NAMES: readonly string[] = ['quality', 'tile_size', 'key', '_']
const TILEJSON_NAMES: readonly string[] = ['profile', 'asset_key', 'format', 'key', 'tile_size', 'signed_seconds', '_']

export const parameter = (place: 'path' | 'query', name: string, description: string) => ({
  name,
  in: place,
  required: place === 'path',
  description,
  schema: { type: 'string' },
})

/** Problems that a GET route can return. */
export const problemResponses = (...statuses: readonly number[]): Record<string, unknown> =>
  Object.fromEntries(statuses.map((status) => [String(status), { $ref: `#/components/responses/Problem${status}` }]))

function resultPath(responses: object): [string, unknown] {
  return [
    `${RESULT.path}/{${RESULT.id}}/tiles/{z}/{x}/{y}.{format}`,
    {
      get: {
        operationId: `${RESULT.render}.get`,
        tags: ['analytics'],
        summary: `Get a tile: \`${RESULT.render}\` for map clients.`,
        description: 'Append `@2x` to the row for 512 × 512 pixels. Returns 404 after the result has expired.',
        parameters: [
          parameter('path', RESULT.id, 'ID of the item, collection or result'),
          parameter('path', 'z', 'Zoom level, 0 to 24'),
          parameter('path', 'x', 'Tile column, counted from the west'),
          parameter('path', 'y', 'Tile row, counted from the north'),
          parameter('path', 'format', 'Image format: `webp`, `png`, `jpg` or `jpeg`'),
          ...TILE_PARAMETERS.filter(([name]) => RESULT_NAMES.includes(name)).map(([name, text]) => parameter('query', name, text)),
        ],
        responses,
      },
    },
  ]
}

/** For the OpenAPI document. */
export function tilePaths(): Record<string, unknown> {
  const problems = problemResponses(400, 401, 403, 404, 422, 429, 500, 503)
  const responses = {
    '200': { description: 'The tile', content: { 'image/webp': { schema: { type: 'string', format: 'binary' } } } },
    '304': { description: 'Not modified: the tile that `If-None-Match` names' },
    ...problems,
  }
  return Object.fromEntries([
    resultPath(responses),
    ...LAYERS.flatMap(({ root, id, render, tilejson }) => [
      [
        `/api/v1/${root}/{${id}}/tiles/{z}/{x}/{y}.{format}`,
        {
          get: {
            operationId: `${render}.get`,
            tags: [root],
            summary: `Get a tile: \`${render}\` for map clients.`,
            description: 'Append `@2x` to the row for 512 × 512 pixels.',
            parameters: [
              parameter('path', id, 'ID of the item, collection or result'),
              parameter('path', 'z', 'Zoom level, 0 to 24; for items also the name of a WMTS tile matrix'),
              parameter('path', 'x', 'Tile column, counted from the west'),
              parameter('path', 'y', 'Tile row, counted from the north'),
              parameter(
                'path',
                'format',
                `Image format: \`webp\`, \`png\`, \`jpg\` or \`jpeg\`${root === 'items' ? '; `bin` for the samples of the bands' : ''}`,
              ),
              ...TILE_PARAMETERS.map(([name, description]) => parameter('query', name, description)),
            ],
            responses,
          },
        },
      ],
      [
        `/api/v1/${root}/{${id}}/tilejson.json`,
        {
          get: {
            operationId: `${tilejson}.get`,
            tags: [root],
            summary: `Get the TileJSON: \`${tilejson}\` for map clients.`,
            description: 'An API key sent as `key` is included in the tile URLs.',
            parameters: [
              parameter('path', id, 'ID of the item, collection or result'),
              ...TILE_PARAMETERS.filter(([name]) => ['profile', 'asset_key', 'tile_size', 'key'].includes(name)).map(
                ([name, description]) => parameter('query', name, description),
              ),
              parameter('query', 'format', 'Image format of the tiles: `webp`, `png`, `jpg` or `jpeg`'),
              parameter('query', 'signed_seconds', 'How long the tile URLs are valid without a credential, in seconds'),
            ],
            responses: {
              '200': {
                description: 'TileJSON 3.0.0',
                content: { 'application/json': { schema: { $ref: '#/components/schemas/TileJson' } } },
              },
              ...problems,
            },
          },
        },
      ],
    ]),
  ])
}
