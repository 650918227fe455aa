/** Under which address the facade is seen: its own, or the one that a proxy of ours was asked at. */
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import type { Projecting } from '#http/projections/project.ts'

export interface Facade extends Projecting {
  /** Addresses or networks whose `X-Forwarded-*` are believed. */
  trustedProxies: readonly string[]
}

const HOST = /^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](:\d{1,5})?$/

export function baseOf({ platform, trustedProxies }: Facade, request: FastifyRequest): string {
  const own = platform.baseUrl()
  if (trustedProxies.length === 0 || !isTrusted(request.socket.remoteAddress, trustedProxies)) return own
  const host = first(request.headers['x-forwarded-host'])
  if (!host || !HOST.test(host)) return own
  const scheme = first(request.headers['x-forwarded-proto'])
  const prefix = first(request.headers['x-forwarded-prefix']) ?? ''
  const isPlainPath = /^(\/[A-Za-z0-9._~-]+)*$/.test(prefix)
  return `${scheme === 'https' || scheme === 'http' ? scheme : new URL(own).protocol.slice(0, -1)}://${host}${isPlainPath ? prefix : ''}`
}

/** The one nearest to the client comes first; what others added behind it is theirs. */
const first = (header: string | string[] | undefined): string | null =>
  (Array.isArray(header) ? header[0] : header)?.split(',')[0]?.trim() || null

function isTrusted(address: string | undefined, proxies: readonly string[]): boolean {
  if (!address || !ipaddr.isValid(address)) return false
  const peer = ipaddr.process(address)
  return proxies.some((entry) => {
    if (!entry.includes('/')) return ipaddr.isValid(entry) && ipaddr.process(entry).toString() === peer.toString()
    if (!ipaddr.isValidCIDR(entry)) return false
    const [network, bits] = ipaddr.parseCIDR(entry)
    return network.kind() === peer.kind() && peer.match(network, bits)
  })
}

/** The key that a caller came with by `key=`, to be kept in every address of ours that they are shown. */
export function keyOf(request: FastifyRequest): string | null {
  const { key } = (request.query ?? {}) as { key?: unknown }
  const isUsed = request.headers.authorization === undefined && request.headers['x-api-key'] === undefined
  return isUsed && request.method !== 'POST' && typeof key === 'string' && key !== '' ? key : null
}
