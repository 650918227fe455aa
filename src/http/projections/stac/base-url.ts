/** The public base URL of the STAC API: its own, or the one that a trusted proxy forwards. */
import type { FastifyRequest } from 'fastify'
import { trusting } from '#core/proxies.ts'
import type { RouteParts } from '#http/parts.ts'

export interface Facade extends RouteParts {
  /** Addresses or networks whose `X-Forwarded-*` headers are trusted. */
  trustedProxies: readonly string[]
  /** Serves the same API elsewhere with the names of another service; by default at `/stac`, with our own. */
  dialect?: Dialect
}

type Json = Record<string, unknown>

export interface Dialect {
  /** The URL prefix before `/stac`. */
  path: string
  /** Converts property names in a search to ours. */
  toOurs: (input: Json) => Json
  /** Converts an item or a collection to their names. */
  toTheirs: (document: Json, seen: { organizationId: string | null; baseUrl: string }) => Json
}

const HOST = /^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?$/

export const baseUrlOf = (facade: Facade, request: FastifyRequest): string => `${hostOf(facade, request)}${facade.dialect?.path ?? ''}`

function hostOf({ platform, trustedProxies }: Facade, request: FastifyRequest): string {
  const baseUrl = platform.baseUrl()
  if (!trusting(trustedProxies)(request.socket.remoteAddress)) return baseUrl
  const host = nearest(request.headers['x-forwarded-host'])
  if (!host || !HOST.test(host)) return baseUrl
  const scheme = nearest(request.headers['x-forwarded-proto'])
  const prefix = nearest(request.headers['x-forwarded-prefix']) ?? ''
  const isPlainPath = /^(\/[A-Za-z0-9._~-]+)*$/.test(prefix)
  const protocol = scheme === 'https' || scheme === 'http' ? `${scheme}:` : new URL(baseUrl).protocol
  return `${protocol}//${host}${isPlainPath ? prefix : ''}`
}

/** Each proxy appends a value, so only the last one is trusted: earlier ones come from the client or an unknown proxy. */
const nearest = (header: string | string[] | undefined): string | null => [header].flat().at(-1)?.split(',').at(-1)?.trim() || null

/** The key that the caller sent as `key=`; it is included in all URLs of this service in the response. */
export function keyOf(request: FastifyRequest): string | null {
  const { key } = (request.query ?? {}) as { key?: unknown }
  const isUsed = request.headers.authorization === undefined && request.headers['x-api-key'] === undefined
  return isUsed && typeof key === 'string' && key !== '' ? key : null
}
