/** WMTS 1.0.0 of one item with key-value pairs (KVP), and its RESTful capabilities. Failures are OGC exception reports. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { invalidField } from '#core/problem.ts'
import { DEFAULT_STYLE, gridOfName, IMAGE_SET, pixelCentre, TILE_PX, WELL_KNOWN_SET, WMTS_FORMATS, WMTS_INFO_FORMATS } from '#wire/wmts.ts'
import { escapeXml } from '#wire/xml.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import { credentialOf } from '#http/credential.ts'
import { send } from '#http/operations.ts'
import { intended, numeric, project, projectAs, queryOf } from './project.ts'
import { keptUntil, signatureOf } from './signed.ts'
import type { RouteParts } from '#http/parts.ts'
import { DRAWING, parameter } from './tiles.ts'
import { nearest } from '#core/nearest.ts'

type Parameters = ReadonlyMap<string, string>

const MATRIX_SETS: readonly string[] = [WELL_KNOWN_SET.id, IMAGE_SET.id]
/** QGIS requests WMS capabilities first, and accepts those of a WMTS. */
const SERVICES = ['WMTS', 'WMS']
/** Parameters of the standard: with any of them, REQUEST is required. The URL alone, as users paste it, returns the capabilities. */
const PAIRS = [
  'service',
  'version',
  'acceptversions',
  'request',
  'layer',
  'style',
  'format',
  'tilematrixset',
  'tilematrix',
  'tilerow',
  'tilecol',
  'infoformat',
  'i',
  'j',
]
/** Our own parameters, which the standard does not have. */
const OWN_NAMES = ['key', 'profile', 'asset_key', 'signed_seconds', 'signature']
/** WMS parameters that resemble ours: clients that support both add them to every request. */
const WMS_NAMES: readonly string[] = ['layers', 'styles', 'info_format']
/** Shorter names resemble too many others. */
const SHORTEST_MISSPELT = 4

const TILE_FORMATS: ReadonlyMap<string, string> = new Map(WMTS_FORMATS.map((format) => [`image/${format}`, format]))

export function registerWmts(app: FastifyInstance, parts: RouteParts): void {
  const capabilities = async (request: FastifyRequest<{ Params: { item_id: string } }>, reply: FastifyReply) => {
    const parameters = parametersOf(request)
    const input = () => ({
      item_id: request.params.item_id,
      base_url: parts.platform.baseUrl(),
      ...optional(checkNames(parameters), { key: 'key', profile: 'profile', asset_key: 'asset_key' }),
      ...(parameters.get('signed_seconds') ? { signed_seconds: numeric(parameters.get('signed_seconds')) } : {}),
    })
    return sendResult(reply, await project(parts, 'items.tile.wmts_capabilities', request, reply, input))
  }
  app.get<{ Params: { item_id: string } }>('/wmts/:item_id/1.0.0/WMTSCapabilities.xml', capabilities)
  app.get<{ Params: { item_id: string } }>('/wmts/:item_id', async (request, reply) => {
    const parameters = parametersOf(request)
    if (!SERVICES.includes((parameters.get('service') || 'WMTS').toUpperCase()))
      return sendException(reply, 400, { code: 'InvalidParameterValue', locator: 'service', text: 'SERVICE must be WMTS' })
    if (!parameters.get('request') && PAIRS.some((name) => parameters.get(name)))
      return sendException(reply, 400, {
        code: 'MissingParameterValue',
        locator: 'request',
        text: 'REQUEST is missing; send GetCapabilities, GetTile or GetFeatureInfo',
      })
    switch ((parameters.get('request') || 'GetCapabilities').toLowerCase()) {
      case 'getcapabilities':
        return await capabilities(request, reply)
      case 'gettile':
        return await tile(parts, request, reply, parameters)
      case 'getfeatureinfo':
        return await featureInfo(parts, request, reply, parameters)
      default:
        return sendException(reply, 400, {
          code: 'OperationNotSupported',
          locator: 'request',
          text: 'REQUEST must be GetCapabilities, GetTile or GetFeatureInfo',
        })
    }
  })
}

/** Also with the signature of a signed document, which names the style that is meant without one. */
async function tile(
  parts: RouteParts,
  request: FastifyRequest<{ Params: { item_id: string } }>,
  reply: FastifyReply,
  parameters: Parameters,
): Promise<FastifyReply> {
  const { item_id: id } = request.params
  const signed = { profile: DEFAULT_STYLE, ...styleOf(parameters), ...optional(parameters, { asset_key: 'asset_key' }) }
  const credential = credentialOf(request) ?? signatureOf(parameters.get('signature'), { kind: 'items', id, parameters: signed })
  const input = () => tileInput(id, checkNames(parameters))
  const invoked = await projectAs(parts, 'items.tile.wmts_get_tile', { request, reply, credential }, input)
  return sendResult(reply, keptUntil(invoked, credential, parts.platform.services.clock.now()))
}

/** Names are case-insensitive; of a repeated parameter, the first value is used. */
function parametersOf(request: FastifyRequest): Parameters {
  const parameters = new Map<string, string>()
  for (const [name, value] of Object.entries(queryOf(request))) {
    const text: unknown = Array.isArray(value) ? value[0] : value
    if (typeof text === 'string' && !parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), text)
  }
  return parameters
}

/**
 * Returns the parameters; rejects a name that looks like a misspelling. Other unknown names are ignored, as OGC services do, because
 * map clients and proxies add their own.
 */
function checkNames(parameters: Parameters): Parameters {
  const names = [...PAIRS, ...OWN_NAMES]
  for (const name of parameters.keys()) {
    if (names.includes(name) || WMS_NAMES.includes(name)) continue
    const drawing = intended(name, DRAWING)
    if (drawing)
      throw invalidField(
        name,
        `unknown parameter; WMTS uses STYLE, the ID of a profile. ${drawing} is a parameter of /api/v1/items/{item_id}/tiles`,
      )
    const meant = nearest(
      name,
      names.filter(({ length }) => length >= SHORTEST_MISSPELT),
    )
    if (meant) throw invalidField(name, `unknown parameter; did you mean ${OWN_NAMES.includes(meant) ? meant : meant.toUpperCase()}?`)
  }
  return parameters
}

const optional = (parameters: Parameters, names: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(names).flatMap(([field, name]) => (parameters.get(name) ? [[field, parameters.get(name)!]] : [])))

function required(parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (value === undefined || value === '') throw invalidField(name, 'is missing')
  return value
}

interface TilePosition {
  z: number
  x: number
  y: number
  grid?: { left: number; top: number; pixel_m: number }
}

/** Zoom levels beyond the image's resolution are rendered, too. */
function tilePosition(itemId: string, parameters: Parameters): TilePosition {
  const layer = parameters.get('layer')
  if (layer && layer !== itemId) throw invalidField('layer', `must be ${itemId}`)
  const set = parameters.get('tilematrixset') || WELL_KNOWN_SET.id
  if (!MATRIX_SETS.includes(set)) throw invalidField('tilematrixset', `must be one of ${MATRIX_SETS.join(', ')}`)
  const matrix = required(parameters, 'tilematrix').split(':').at(-1)!
  const at = (last: number) => ({
    x: indexUpTo(required(parameters, 'tilecol'), 'tilecol', last),
    y: indexUpTo(required(parameters, 'tilerow'), 'tilerow', last),
  })
  if (set === WELL_KNOWN_SET.id) {
    const z = indexUpTo(matrix, 'tilematrix', WELL_KNOWN_SET.maxZoom)
    return { z, ...at(2 ** z - 1) }
  }
  const grid = gridOfName(matrix)
  if (!grid) throw invalidField('tilematrix', 'unknown tile matrix; see the capabilities of this set')
  return { z: 0, ...at(2 ** 24 - 1), grid }
}

function indexUpTo(text: string, field: string, last: number): number {
  const value = numeric(text)
  if (typeof value !== 'number' || value < 0 || value > last) throw invalidField(field, `must be from 0 to ${last}`)
  return value
}

function tileInput(itemId: string, parameters: Parameters): object {
  const format = TILE_FORMATS.get((parameters.get('format') || 'image/webp').toLowerCase())
  if (!format) throw invalidField('format', `must be one of ${[...TILE_FORMATS.keys()].join(', ')}`)
  return {
    item_id: itemId,
    ...tilePosition(itemId, parameters),
    format,
    ...styleOf(parameters),
    ...optional(parameters, { asset_key: 'asset_key' }),
  }
}

/** A style is a profile. Clients often omit it if a service has only one. */
const styleOf = (parameters: Parameters): Record<string, string> =>
  optional(parameters, { profile: parameters.get('style') ? 'style' : 'profile' })

async function featureInfo(
  parts: RouteParts,
  request: FastifyRequest<{ Params: { item_id: string } }>,
  reply: FastifyReply,
  parameters: Parameters,
): Promise<FastifyReply> {
  const { item_id: itemId } = request.params
  const format = parameters.get('infoformat') || WMTS_INFO_FORMATS[0]
  const invoked = await project(parts, 'items.point', request, reply, () => {
    if (!(WMTS_INFO_FORMATS as readonly string[]).includes(format))
      throw invalidField('infoformat', `must be one of ${WMTS_INFO_FORMATS.join(', ')}`)
    const position = tilePosition(itemId, checkNames(parameters))
    const [i, j] = [indexUpTo(required(parameters, 'i'), 'i', TILE_PX - 1), indexUpTo(required(parameters, 'j'), 'j', TILE_PX - 1)]
    return {
      item_id: itemId,
      ...pixelCentre({ ...position, i, j }),
      ...styleOf(parameters),
      ...optional(parameters, { asset_key: 'asset_key' }),
    }
  })
  if (invoked.status !== 200) return sendResult(reply, invoked)
  const point = JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as PointValues
  const properties = Object.fromEntries([
    ...point.bands.map(({ band, name, value }) => [name ?? `b${band}`, value]),
    ...point.results.map(({ expression, value }) => [expression, value]),
  ]) as Record<string, number | null>
  const features = point.inside
    ? [{ type: 'Feature', id: point.item_id, geometry: { type: 'Point', coordinates: [point.longitude, point.latitude] }, properties }]
    : []
  const body =
    format === 'text/plain'
      ? Object.entries(properties)
          .map(([name, value]) => `${name} = ${value ?? 'no data'}\n`)
          .join('')
      : JSON.stringify({ type: 'FeatureCollection', features })
  return send(reply, { ...invoked, headers: { ...invoked.headers, 'Content-Type': `${format}; charset=utf-8` }, body: Buffer.from(body) })
}

interface PointValues {
  item_id: string
  longitude: number
  latitude: number
  inside: boolean
  bands: { band: number; name: string | null; value: number | null }[]
  results: { expression: string; value: number | null }[]
}

interface Exception {
  code: string
  locator?: string | undefined
  text: string
}

/** A problem as an OGC exception report. */
function sendResult(reply: FastifyReply, invoked: Invoked): FastifyReply {
  if (invoked.status < 400) return send(reply, invoked)
  const { code, detail, errors } = JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as {
    code: string
    detail: string
    errors?: { field: string; message: string }[]
  }
  const [first] = errors ?? []
  const isMissing = first?.message === 'is missing'
  const isOutside = first !== undefined && ['tilecol', 'tilerow'].includes(first.field) && !isMissing
  const exceptionCode = isMissing
    ? 'MissingParameterValue'
    : isOutside
      ? 'TileOutOfRange'
      : code === 'invalid-input'
        ? 'InvalidParameterValue'
        : 'NoApplicableCode'
  const { 'Content-Type': _json, ...headers } = invoked.headers
  reply.headers(headers)
  return sendException(reply, invoked.status === 422 ? 400 : invoked.status, { code: exceptionCode, locator: first?.field, text: detail })
}

function sendException(reply: FastifyReply, status: number, { code, locator, text }: Exception): FastifyReply {
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<ExceptionReport xmlns="http://www.opengis.net/ows/1.1" version="1.1.0" xml:lang="en">
  <Exception exceptionCode="${code}"${locator ? ` locator="${escapeXml(locator)}"` : ''}>\
<ExceptionText>${escapeXml(text)}</ExceptionText></Exception>
</ExceptionReport>
`
  return reply.code(status).type('application/xml; charset=utf-8').send(body)
}

const XML = { 'application/xml': { schema: { type: 'string' } } }
const REPORTS: readonly (readonly [number, string])[] = [
  [400, 'Missing or invalid parameter; `locator` of the exception report names it'],
  [401, 'Missing or invalid credential'],
  [403, 'The credential lacks the required scope or role'],
  [404, 'No such item'],
  [429, 'Too many requests'],
  [500, 'Internal error'],
]

const KVP_PARAMETERS = [
  ['SERVICE', '`WMTS`; `WMS` is also accepted, for QGIS'],
  ['REQUEST', '`GetCapabilities` (default), `GetTile` or `GetFeatureInfo`'],
  ['STYLE', 'Visualization profile ID, a derived visualization such as `ndvi`, or `default`'],
  ['FORMAT', 'Media type of the tile: `image/webp` or `image/png`'],
  ['TILEMATRIXSET', `\`${IMAGE_SET.id}\` or \`${WELL_KNOWN_SET.id}\``],
  ['TILEMATRIX', 'Tile matrix name from the capabilities; the zoom level for `GoogleMapsCompatible`'],
  ['TILEROW', 'Tile row, counted from the north'],
  ['TILECOL', 'Tile column, counted from the west'],
  ['I', 'Pixel column in the tile, for `GetFeatureInfo`'],
  ['J', 'Pixel row in the tile, for `GetFeatureInfo`'],
  ['INFOFORMAT', 'Media type of `GetFeatureInfo`: `application/json` or `text/plain`'],
  ['asset_key', 'Asset key, for items with several rasters'],
  ['key', 'API key, for clients that cannot send headers'],
  ['signed_seconds', 'For `GetCapabilities`: how long the tile URLs of one style are valid without a credential, in seconds'],
  ['signature', 'For `GetTile`: signature from capabilities that were requested with `signed_seconds`, instead of a credential'],
] as const

/** For the OpenAPI document. Parameter names are case-insensitive. */
export function wmtsPaths(): Record<string, unknown> {
  const failures = Object.fromEntries(REPORTS.map(([status, description]) => [String(status), { description, content: XML }]))
  const item = parameter('path', 'item_id', 'Item ID')
  const query = (names: readonly string[]) =>
    KVP_PARAMETERS.filter(([name]) => names.includes(name)).map(([name, description]) => parameter('query', name, description))
  return {
    '/wmts/{item_id}': {
      get: {
        operationId: 'items.tile.wmts.get',
        tags: ['items'],
        summary: 'WMTS 1.0.0 of one item (KVP encoding).',
        description: '`items.tile.wmts_capabilities`, `items.tile.wmts_get_tile` and `items.point` for map clients.',
        parameters: [item, ...query(KVP_PARAMETERS.map(([name]) => name))],
        responses: {
          '200': {
            description: 'Capabilities, a tile, or the values at a pixel',
            content: {
              ...XML,
              'image/webp': { schema: { type: 'string', format: 'binary' } },
              'image/png': { schema: { type: 'string', format: 'binary' } },
              'application/json': { schema: { type: 'object' } },
              'text/plain': { schema: { type: 'string' } },
            },
          },
          '304': { description: 'Not modified: the tile that `If-None-Match` names' },
          ...failures,
        },
      },
    },
    '/wmts/{item_id}/1.0.0/WMTSCapabilities.xml': {
      get: {
        operationId: 'items.tile.wmts_capabilities.get',
        tags: ['items'],
        summary: 'WMTS capabilities of one item (RESTful).',
        description: 'An API key sent as `key` is included in the tile URLs.',
        parameters: [item, ...query(['asset_key', 'key', 'signed_seconds'])],
        responses: { '200': { description: 'The capabilities', content: XML }, ...failures },
      },
    },
  }
}
