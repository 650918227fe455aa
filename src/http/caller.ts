import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Principal } from '#core/principal.ts'
import { tenantOfCaller } from '#core/tenant.ts'
import type { Platform } from '#pipeline/platform.ts'

/**
 * The address that rate limits count a call under: the one that a trusted proxy forwards if it is valid, otherwise that of the
 * connection. IPv6 addresses are reduced to their /64, because a subscriber can use any address in it.
 */
export function callerAddress(request: FastifyRequest): string {
  const given = isIP(request.ip) ? request.ip : (request.socket.remoteAddress ?? '')
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(given)?.[1]
  if (mapped) return mapped
  return isIP(given) === 6 ? `${firstGroups(given, 4)}::/64` : given
}

/**
 * For small routes that are not operations: they wait for a slot of their tenant and count as one call. Only the socket tells
 * whether the client has left, because Node destroys the request itself as soon as its body has been read.
 */
export async function takeSlot({ scheduler }: Pick<Platform, 'scheduler'>, request: FastifyRequest, principal: Principal): Promise<void> {
  const left = new AbortController()
  if (request.socket.destroyed) left.abort()
  await scheduler.run(tenantOfCaller(principal, callerAddress(request)), left, async () => {})
}

const GROUPS = 8

function firstGroups(address: string, count: number): string {
  const [head = '', tail] = address.split('%', 1)[0]!.split('::')
  const left = head.split(':').filter(Boolean)
  const right = (tail ?? '').split(':').filter(Boolean)
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, GROUPS - left.length - right.length) }, () => '0')
  return [...left, ...zeros, ...right]
    .slice(0, count)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')
}
