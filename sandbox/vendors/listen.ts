import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

const HOST = '127.0.0.1'

/** Starts a simulated host on loopback. Returns its `host:port`. */
export async function listen(server: FastifyInstance): Promise<string> {
  await server.listen({ host: HOST, port: 0 })
  return `${HOST}:${(server.server.address() as AddressInfo).port}`
}
