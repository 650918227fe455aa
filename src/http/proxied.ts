/** Behind a trusted proxy, concurrent requests are limited per forwarded address. */
import type { FastifyInstance } from 'fastify'
import { CONNECTION_LIMITS, type ConnectionLimits } from '#core/connections.ts'
import { problem } from '#core/problem.ts'
import type { IsTrusted } from '#core/proxies.ts'
import { callerAddress } from './caller.ts'

interface ProxyParts {
  isTrusted: IsTrusted
  connections?: ConnectionLimits
}

export function registerProxyLimit(app: FastifyInstance, { isTrusted, connections = CONNECTION_LIMITS }: ProxyParts): void {
  const { maxPerAddress } = connections
  const counts = new Map<string, number>()
  app.addHook('onRequest', async (request, reply) => {
    if (!isTrusted(request.socket.remoteAddress)) return
    if (isTrusted(request.ip)) return // The proxy itself, or one that forwards no address: there is no client to count.
    const address = callerAddress(request)
    const count = counts.get(address) ?? 0
    if (count >= maxPerAddress)
      throw problem('rate-limited', `Too many concurrent requests from this address (maximum ${maxPerAddress}); wait for some to finish`, {
        headers: { 'Retry-After': '1' },
      })
    counts.set(address, count + 1)
    reply.raw.once('close', () => {
      const left = counts.get(address)! - 1
      if (left > 0) counts.set(address, left)
      else counts.delete(address)
    })
  })
}
