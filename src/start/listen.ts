import type { FastifyInstance } from 'fastify'
import type { Config } from '#config.ts'
import { listenProblem } from './listen-problem.ts'

export async function listen(app: FastifyInstance, { host, port, dataDir }: Config): Promise<string> {
  try {
    return await app.listen({ port, host })
  } catch (error) {
    throw listenProblem(error, { setting: 'PORT', host, port, dataDir })
  }
}

/** The ports that a second start with the same data folder would need too. */
export const portsOf = ({ storePort, sandboxPaymentsPort, sandboxVendorsPort }: Config, address: string): number[] =>
  [Number(new URL(address).port), storePort, sandboxPaymentsPort, sandboxVendorsPort].filter((port) => port !== 0)
