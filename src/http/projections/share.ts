/**
 * Shared maps and files by GET, for clients that can only follow URLs. Each route calls an operation and is authorized by the
 * grant in its query, or in its path if the link is public: those URLs are the same for everyone, and caches can keep their tiles.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { GRANT_PREFIX } from '#core/share-grant.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import { send } from '#http/operations.ts'
import { known, pick, project, queryOf, redirect, tilePlace, type TileParams } from './project.ts'
import type { RouteParts } from '#http/parts.ts'

/** Map clients add `_` to bypass caches. */
const ANYWHERE = ['grant', '_']

export function registerShareRoutes(app: FastifyInstance, parts: RouteParts): void {
  const run = (id: string, request: FastifyRequest, reply: FastifyReply, names: readonly string[], place: object = {}) =>
    project(parts, id, request, reply, () => {
      const query = known(queryOf(request), [...names, ...ANYWHERE])
      return { token: grantOf(request), ...place, ...pick(query, names) }
    })

  app.get('/api/v1/share/tilejson.json', async (request, reply) => send(reply, await run('share.tilejson', request, reply, ['profile'])))

  app.get<{ Params: TileParams }>('/api/v1/share/tiles/:z/:x/:row', async (request, reply) => {
    const place = tilePlace(request.params)
    return send(reply, await run('share.tile.render', request, reply, ['profile'], place))
  })

  const runPublic = (id: string, request: FastifyRequest<PublicParams>, reply: FastifyReply, input: object) =>
    project(parts, id, request, reply, () => {
      known(queryOf(request), ['_'])
      return { token: asGrant(request.params.grant), ...input }
    })

  app.get<PublicParams & { Params: TileParams & { version: string; style: string } }>(
    `${PUBLIC}/:grant/:version/:style/:z/:x/:row`,
    async (request, reply) => {
      const { version, style } = request.params
      const input = { ...tilePlace(request.params), version, ...(style === 'default' ? {} : { profile: style }) }
      return send(reply, withoutCaller(await runPublic('share.tile.render', request, reply, input)))
    },
  )
  for (const [name, id] of [
    ['tilejson.json', 'share.tilejson'],
    ['WMTSCapabilities.xml', 'share.wmts_capabilities'],
  ] as const)
    app.get<PublicParams>(`${PUBLIC}/:grant/${name}`, async (request, reply) => send(reply, await runPublic(id, request, reply, {})))

  app.get<{ Params: { asset_id: string } }>('/api/v1/share/assets/:asset_id', async (request, reply) => {
    const invoked = await run('share.asset.download', request, reply, [], { asset_id: request.params.asset_id })
    return redirect(reply, invoked, 'private, no-store')
  })
}

const PUBLIC = '/api/v1/public'
type PublicParams = { Params: { grant: string } }

/** A response that everyone shares must not vary with a caller's credential, which has no effect, or tell of a caller's rate limit. */
function withoutCaller(invoked: Invoked): Invoked {
  const { headers } = invoked
  if (!headers['Cache-Control']?.startsWith('public')) return invoked
  for (const name of Object.keys(headers)) if (name === 'Vary' || name.startsWith('RateLimit')) delete headers[name]
  return invoked
}

/** Passwords must not be in URLs, so only a grant gives access here. */
const grantOf = (request: FastifyRequest): string => asGrant(queryOf(request)['grant'])
const asGrant = (text: unknown): string => (typeof text === 'string' && text.startsWith(GRANT_PREFIX) ? text : GRANT_PREFIX)

const parameter = (place: 'path' | 'query', name: string, description: string) => ({
  name,
  in: place,
  required: place === 'path' || name === 'grant',
  description,
  schema: { type: 'string' },
})
const GRANT = parameter('query', 'grant', 'Grant from `share.link.validate` or `share.tilejson`, instead of token and password')
const PROFILE = parameter('query', 'profile', 'ID of an available visualization')

/** For the OpenAPI document. */
export function sharePaths(): Record<string, unknown> {
  const problems = (...statuses: string[]) =>
    Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]))
  const entry = (id: string, summary: string, parameters: object[], responses: object) => ({
    get: { operationId: `${id}.get`, tags: ['share'], summary, security: [], parameters: [...parameters, GRANT], responses },
  })
  const publicEntry = (operationId: string, summary: string, parameters: object[], responses: object) => ({
    get: {
      operationId: `${operationId}.get`,
      tags: ['share'],
      summary,
      security: [],
      parameters: [parameter('path', 'grant', 'Grant of a public link, from `share.link.validate`'), ...parameters],
      responses: { ...responses, ...problems('400', '401', '404', '422', '429', '500') },
    },
  })
  return {
    '/api/v1/share/tiles/{z}/{x}/{y}.{format}': entry(
      'share.tile.render',
      'Get a shared tile: `share.tile.render` for map clients.',
      [
        parameter('path', 'z', 'Zoom level, 0 to 24'),
        parameter('path', 'x', 'Tile column, counted from the west'),
        parameter('path', 'y', 'Tile row, counted from the north; append `@2x` for 512 × 512 pixels'),
        parameter('path', 'format', 'Image format: `webp`, `png`, `jpg` or `jpeg`'),
        PROFILE,
      ],
      {
        '200': { description: 'The tile', content: { 'image/webp': { schema: { type: 'string', format: 'binary' } } } },
        '304': { description: 'Not modified: the tile that `If-None-Match` names' },
        ...problems('400', '401', '404', '422', '429', '500'),
      },
    ),
    '/api/v1/share/tilejson.json': entry('share.tilejson', 'Get the TileJSON of a shared item.', [PROFILE], {
      '200': { description: 'The TileJSON', content: { 'application/json': { schema: { type: 'object' } } } },
      ...problems('400', '401', '404', '422', '429', '500'),
    }),
    '/api/v1/public/{grant}/{version}/{style}/{z}/{x}/{y}.{format}': publicEntry(
      'share.tile.render.public',
      'Get a tile of a public link, which caches can keep: `share.tile.render` for map clients.',
      [
        parameter('path', 'version', 'Version from the TileJSON, or `latest`'),
        parameter('path', 'style', 'ID of an available visualization, or `default`'),
        parameter('path', 'z', 'Zoom level, 0 to 24'),
        parameter('path', 'x', 'Tile column, counted from the west'),
        parameter('path', 'y', 'Tile row, counted from the north; append `@2x` for 512 × 512 pixels'),
        parameter('path', 'format', 'Image format: `webp`, `png`, `jpg` or `jpeg`'),
      ],
      {
        '200': { description: 'The tile', content: { 'image/webp': { schema: { type: 'string', format: 'binary' } } } },
        '304': { description: 'Not modified: the tile that `If-None-Match` names' },
      },
    ),
    '/api/v1/public/{grant}/tilejson.json': publicEntry('share.tilejson.public', 'Get the TileJSON of a public link.', [], {
      '200': { description: 'The TileJSON', content: { 'application/json': { schema: { type: 'object' } } } },
    }),
    '/api/v1/public/{grant}/WMTSCapabilities.xml': publicEntry('share.wmts_capabilities.public', 'Get the WMTS of a public link.', [], {
      '200': { description: 'The capabilities', content: { 'application/xml': { schema: { type: 'string' } } } },
    }),
    '/api/v1/share/assets/{asset_id}': entry(
      'share.asset.download',
      'Download a shared file: a redirect to a signed URL.',
      [parameter('path', 'asset_id', 'Asset ID')],
      { '302': { description: 'Redirect to the file' }, ...problems('401', '403', '404', '422', '429', '500') },
    ),
  }
}
