/** Converts responses of operations to those that STAC clients expect. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { send } from '#http/operations.ts'
import { withKey } from '#core/stac.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import { baseUrlOf, keyOf, type Facade } from './base-url.ts'
import { GEOJSON_TYPE, JSON_TYPE, type FacadeLink } from './documents.ts'

type Json = Record<string, unknown>

const bytesOf = (invoked: Invoked): Buffer => Buffer.from(invoked.body as Uint8Array)
export const bodyOf = <T>(invoked: Invoked): T => JSON.parse(bytesOf(invoked).toString()) as T

/** STAC clients expect 400 for an invalid value; the field errors stay, and the problem type becomes that of 400. */
export function sendProblem(reply: FastifyReply, invoked: Invoked): FastifyReply {
  if (invoked.status !== 422) return send(reply, invoked)
  const problem = bodyOf<Json & { type: string }>(invoked)
  const type = problem.type.replace(/[^/]+$/, 'bad-request')
  const document = { ...problem, type, code: 'bad-request', status: 400, title: 'Bad Request' }
  return send(reply, { ...invoked, status: 400, body: Buffer.from(JSON.stringify(document)) })
}

interface Head {
  context: { returned: number; matched?: number; matched_estimated?: true }
  next?: string
}

/** `features` comes last in the response of `stac.search`, so that only the text before it is rewritten. */
const FEATURES = Buffer.from('"features":[')

function split(body: Buffer): { head: Head; features: Buffer } {
  const at = body.indexOf(FEATURES)
  return { head: JSON.parse(`${body.subarray(0, at).toString().replace(/,$/, '')}}`) as Head, features: body.subarray(at) }
}

/** The position of a page of features: its URL, and how to request the next one. */
interface Place {
  path: string
  /** The request's own URL. */
  query: Json
  /** The body of the next link, if the search was sent as a body. */
  posted: Json | null
  links: readonly FacadeLink[]
}

export function sendFeatures(facade: Facade, request: FastifyRequest, reply: FastifyReply, invoked: Invoked, place: Place): FastifyReply {
  if (invoked.status !== 200) return sendProblem(reply, invoked)
  const { head, features } = split(bytesOf(invoked))
  const [baseUrl, key] = [baseUrlOf(facade, request), keyOf(request)]
  const { returned, matched, matched_estimated: isEstimated } = head.context
  const opening = JSON.stringify({
    type: 'FeatureCollection',
    links: [
      ...pageLinks(baseUrl, key, place, head.next ?? null),
      { rel: 'root', href: withKey(`${baseUrl}/stac`, key), type: JSON_TYPE },
      ...place.links,
    ],
    numberReturned: returned,
    ...(matched === undefined ? {} : { numberMatched: matched }),
    ...(isEstimated ? { numberMatchedEstimated: true } : {}),
  })
  const body = Buffer.concat([Buffer.from(`${opening.slice(0, -1)},`), translated(facade, invoked, features, baseUrl)])
  return send(reply, { ...invoked, headers: { ...invoked.headers, 'Content-Type': GEOJSON_TYPE }, body })
}

/** Features are passed on unchanged, unless the dialect renames their properties. */
function translated(facade: Facade, invoked: Invoked, features: Buffer, baseUrl: string): Buffer {
  if (!facade.dialect) return features
  const { features: ours } = JSON.parse(`{${features.toString()}`) as { features: Json[] }
  const theirs = ours.map((feature) => inDialect(facade, invoked, feature, baseUrl))
  return Buffer.from(`"features":${JSON.stringify(theirs)}}`)
}

/** An item or a collection in the dialect of the client. */
export function inDialect(facade: Facade, { trace: { organizationId } }: Invoked, document: Json, baseUrl: string): Json {
  return facade.dialect?.toTheirs(document, { organizationId, baseUrl }) ?? document
}

function pageLinks(baseUrl: string, key: string | null, { path, query, posted }: Place, next: string | null): FacadeLink[] {
  const address = (more: Json) => {
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...query, ...more }))
      if (name !== 'key' && value !== undefined) parameters.set(name, Array.isArray(value) ? value.join(',') : String(value))
    const text = parameters.toString()
    return withKey(`${baseUrl}${path}${text ? `?${text}` : ''}`, key)
  }
  if (!posted)
    return [
      { rel: 'self', href: address({}), type: GEOJSON_TYPE, method: 'GET' },
      ...(next ? [{ rel: 'next', href: address({ token: next }), type: GEOJSON_TYPE, method: 'GET' as const }] : []),
    ]
  const { token: _before, ...again } = posted
  return [
    { rel: 'self', href: withKey(`${baseUrl}${path}`, key), type: GEOJSON_TYPE, method: 'POST', body: posted },
    ...(next
      ? [
          {
            rel: 'next',
            href: withKey(`${baseUrl}${path}`, key),
            type: GEOJSON_TYPE,
            method: 'POST' as const,
            body: { ...again, token: next },
            merge: false as const,
          },
        ]
      : []),
  ]
}
