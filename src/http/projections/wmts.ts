/** WMTS 1.0.0 of one item by key-value pairs, and its capabilities by address. Failures are OGC exception reports. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { invalidField } from '#core/problem.ts'
import { WMTS_FORMATS, WMTS_INFO_FORMATS, WMTS_MATRIX_SETS } from '#wire/wmts.ts'
import { escapeXml } from '#wire/xml.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import { send } from '#http/operations.ts'
import { numeric, project, queryOf, type Projecting } from './project.ts'

type Parameters = ReadonlyMap<string, string>

const MATRIX_SETS: ReadonlyMap<string, number> = new Map(Object.entries(WMTS_MATRIX_SETS))
const TILE_FORMATS: ReadonlyMap<string, string> = new Map(WMTS_FORMATS.map((format) => [`image/${format}`, format]))
const TILE_PX = 256

export function registerWmts(app: FastifyInstance, projecting: Projecting): void {
  const capabilities = async (request: FastifyRequest<{ Params: { item_id: string } }>, reply: FastifyReply) => {
    const given = parametersOf(request)
    const input = () => ({
      item_id: request.params.item_id,
      base_url: projecting.platform.baseUrl(),
      ...optional(given, { key: 'key', profile: 'profile', asset_key: 'asset_key' }),
    })
    return answer(reply, await project(projecting, 'items.tile.wmts_capabilities', request, reply, input))
  }
  app.get<{ Params: { item_id: string } }>('/wmts/:item_id/1.0.0/WMTSCapabilities.xml', capabilities)
  app.get<{ Params: { item_id: string } }>('/wmts/:item_id', async (request, reply) => {
    const given = parametersOf(request)
    const { item_id: itemId } = request.params
    if ((given.get('service') ?? 'WMTS').toUpperCase() !== 'WMTS')
      return refuse(reply, 400, { code: 'InvalidParameterValue', locator: 'service', text: 'This is a WMTS' })
    switch (given.get('request')?.toLowerCase()) {
      case 'getcapabilities':
        return await capabilities(request, reply)
      case 'gettile':
        return answer(reply, await project(projecting, 'items.tile.wmts_get_tile', request, reply, () => tileInput(itemId, given)))
      case 'getfeatureinfo':
        return await featureInfo(projecting, request, reply, given)
      case undefined:
        return refuse(reply, 400, {
          code: 'MissingParameterValue',
          locator: 'request',
          text: 'Give REQUEST=GetCapabilities, GetTile or GetFeatureInfo',
        })
      default:
        return refuse(reply, 501, {
          code: 'OperationNotSupported',
          locator: 'request',
          text: 'REQUEST is GetCapabilities, GetTile or GetFeatureInfo',
        })
    }
  })
}

/** Names in any spelling; of a parameter that comes twice the first counts. */
function parametersOf(request: FastifyRequest): Parameters {
  const found = new Map<string, string>()
  for (const [name, value] of Object.entries(queryOf(request))) {
    const text: unknown = Array.isArray(value) ? value[0] : value
    if (typeof text === 'string' && !found.has(name.toLowerCase())) found.set(name.toLowerCase(), text)
  }
  return found
}

const optional = (given: Parameters, names: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(names).flatMap(([field, name]) => (given.get(name) ? [[field, given.get(name)!]] : [])))

function required(given: Parameters, name: string): string {
  const value = given.get(name)
  if (value === undefined || value === '') throw invalidField(name, 'is missing')
  return value
}

function place(itemId: string, given: Parameters): { z: number; x: number; y: number } {
  const layer = given.get('layer')
  if (layer && layer !== itemId) throw invalidField('layer', 'is not the layer of this service')
  const set = given.get('tilematrixset') || 'GoogleMapsCompatible'
  const lastZoom = MATRIX_SETS.get(set)
  if (lastZoom === undefined) throw invalidField('tilematrixset', `is one of ${[...MATRIX_SETS.keys()].join(', ')}`)
  const z = whole(required(given, 'tilematrix').split(':').at(-1)!, 'tilematrix', lastZoom)
  return { z, x: whole(required(given, 'tilecol'), 'tilecol', 2 ** z - 1), y: whole(required(given, 'tilerow'), 'tilerow', 2 ** z - 1) }
}

function whole(text: string, field: string, last: number): number {
  const value = numeric(text)
  if (typeof value !== 'number' || value < 0 || value > last) throw invalidField(field, `must be from 0 to ${last}`)
  return value
}

function tileInput(itemId: string, given: Parameters): object {
  const format = TILE_FORMATS.get((given.get('format') || 'image/webp').toLowerCase())
  if (!format) throw invalidField('format', `is one of ${[...TILE_FORMATS.keys()].join(', ')}`)
  return { item_id: itemId, ...place(itemId, given), format, ...styleOf(given), ...optional(given, { asset_key: 'asset_key' }) }
}

/** A style is a profile; services that offer but one are often asked for none. */
const styleOf = (given: Parameters): Record<string, string> => optional(given, { profile: given.get('style') ? 'style' : 'profile' })

async function featureInfo(
  projecting: Projecting,
  request: FastifyRequest<{ Params: { item_id: string } }>,
  reply: FastifyReply,
  given: Parameters,
): Promise<FastifyReply> {
  const { item_id: itemId } = request.params
  const format = given.get('infoformat') || WMTS_INFO_FORMATS[0]
  const invoked = await project(projecting, 'items.point', request, reply, () => {
    if (!(WMTS_INFO_FORMATS as readonly string[]).includes(format))
      throw invalidField('infoformat', `is one of ${WMTS_INFO_FORMATS.join(', ')}`)
    const { z, x, y } = place(itemId, given)
    const [i, j] = [whole(required(given, 'i'), 'i', TILE_PX - 1), whole(required(given, 'j'), 'j', TILE_PX - 1)]
    const side = TILE_PX * 2 ** z
    const longitude = ((x * TILE_PX + i + 0.5) / side) * 360 - 180
    const latitude = (Math.atan(Math.sinh(Math.PI * (1 - (2 * (y * TILE_PX + j + 0.5)) / side))) * 180) / Math.PI
    return { item_id: itemId, longitude, latitude, ...styleOf(given), ...optional(given, { asset_key: 'asset_key' }) }
  })
  if (invoked.status !== 200) return answer(reply, invoked)
  const point = JSON.parse(Buffer.from(invoked.body as Uint8Array).toString()) as PointAnswer
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

interface PointAnswer {
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

/** A problem, in the words of the OGC. */
function answer(reply: FastifyReply, invoked: Invoked): FastifyReply {
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
  return refuse(reply, invoked.status === 422 ? 400 : invoked.status, { code: exceptionCode, locator: first?.field, text: detail })
}

function refuse(reply: FastifyReply, status: number, { code, locator, text }: Exception): FastifyReply {
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<ExceptionReport xmlns="http://www.opengis.net/ows/1.1" version="1.1.0" xml:lang="en">
  <Exception exceptionCode="${code}"${locator ? ` locator="${escapeXml(locator)}"` : ''}>\
<ExceptionText>${escapeXml(text)}</ExceptionText></Exception>
</ExceptionReport>
`
  return reply.code(status).type('application/xml; charset=utf-8').send(body)
}
