/** Under which address the facade is seen: its own, or the one that a proxy of ours was asked at. */
import type { FastifyRequest } from 'fastify'
import { trusting } from '#core/proxies.ts'
import type { RouteParts } from '#http/parts.ts'

export interface Facade extends RouteParts {
  /** Addresses or networks whose `X-Forwarded-*` are believed. */
  trustedProxies: readonly string[]
  /** Where the same API is served in the words of another service; left out: at `/stac`, in our own. */
  dialect?: Dialect
}

type Json = Record<string, unknown>

export interface Dialect {
  /** What stands before `/stac` in its addresses. */
  path: string
  /** The input of a search, with names of properties in our words. */
  toOurs: (input: Json) => Json
  /** An item or a collection in their words. */
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

/** Each proxy appends what it was asked for; what stands before the last entry was sent by the client or a proxy nobody named. */
const nearest = (header: string | string[] | undefined): string | null => [header].flat().at(-1)?.split(',').at(-1)?.trim() || null

/** The key that a caller came with by `key=`, to be kept in every address of ours that they are shown. */
export function keyOf(request: FastifyRequest): string | null {
  const { key } = (request.query ?? {}) as { key?: unknown }
  const isUsed = request.headers.authorization === undefined && request.headers['x-api-key'] === undefined
  return isUsed && typeof key === 'string' && key !== '' ? key : null
}
