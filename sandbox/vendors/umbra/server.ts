/**
 * Umbra's Canopy API as its OpenAPI documents describe it, on loopback, with the scenes of the sandbox: sign-in with client credentials,
 * an archive and deliveries as STAC APIs, tasks with studies, and files behind signed links at another host. The test decides what goes
 * wrong.
 */
import fastify, { type FastifyInstance } from 'fastify'
import type { Exchange } from '../skyfi/server.ts'
import { UmbraSimulator, type PlacedTask, type UmbraFaults, type UmbraOptions } from './simulator.ts'
import { Refused } from '../refused.ts'
import { listen } from '../listen.ts'
import { sendFile } from '../send-file.ts'
import { serveArchive, serveDeliveries } from './stac.ts'
import { serveTasking } from './tasking.ts'

export interface SimulatedUmbra {
  /** Base URL of all APIs. */
  readonly url: string
  readonly tokenUrl: string
  /** `host:port` of the APIs and of the signed links. */
  readonly hosts: { readonly api: string; readonly files: string }
  readonly clientId: string
  readonly clientSecret: string
  readonly faults: UmbraFaults
  readonly tasks: readonly PlacedTask[]
  readonly exchanges: readonly Exchange[]
  /** Headers that the host of the signed links received. */
  readonly fileHeaders: readonly Record<string, unknown>[]
  /** How often somebody signed in. */
  signIns(): number
  /** Ends all sessions: the next request of each must sign in again. */
  revokeTokens(): void
  /** The files of a task, as they are delivered. */
  files(taskId: string): ReturnType<UmbraSimulator['files']>
  close(): Promise<void>
}

const TOKEN_PATH = '/oauth/token'
const MAX_EXCHANGES = 2_000

export async function startUmbra(options: UmbraOptions): Promise<SimulatedUmbra> {
  const simulator = new UmbraSimulator(options)
  const app = fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 300 } })
  // Signed links are at another host, which must never see the token.
  const files = fastify({ forceCloseConnections: true })
  const exchanges: Exchange[] = []
  guard(app, simulator, exchanges)
  app.post<{ Body: Record<string, unknown> }>(TOKEN_PATH, async ({ body }) => simulator.signIn(body))
  serveArchive(app, simulator)
  serveDeliveries(app, simulator)
  serveTasking(app, simulator)
  serveFiles(files, simulator)
  const hosts = { api: await listen(app), files: await listen(files) }
  simulator.filesHost = hosts.files
  simulator.base = `http://${hosts.api}`
  const { clientId, clientSecret, faults, tasks, fileHeaders } = simulator
  return {
    url: simulator.base,
    tokenUrl: `${simulator.base}${TOKEN_PATH}`,
    hosts,
    clientId,
    clientSecret,
    faults,
    tasks,
    exchanges,
    fileHeaders,
    signIns: () => simulator.signIns,
    revokeTokens: () => simulator.tokens.clear(),
    files: async (taskId) => await simulator.files(simulator.task(taskId)),
    async close() {
      await app.close()
      await files.close()
      await simulator.renderer.close()
    },
  }
}

/** Errors, tokens, and the record of all exchanges. */
function guard(app: FastifyInstance, simulator: UmbraSimulator, exchanges: Exchange[]): void {
  app.setErrorHandler((error, request, reply) => {
    const status = error instanceof Refused ? error.status : ((error as { statusCode?: number }).statusCode ?? 500)
    const detail = error instanceof Refused ? error.detail : 'Internal error'
    const isToken = request.url === TOKEN_PATH
    void reply.status(status).send(isToken ? { error: 'access_denied', error_description: detail } : { detail })
  })
  app.addHook('onRequest', async (request, reply) => {
    if (simulator.take('limited')) return await reply.status(429).send({ detail: 'Too many requests' })
    if (request.url !== TOKEN_PATH && !simulator.isSignedIn(request.headers.authorization)) throw new Refused(401, 'Unauthorized')
    return undefined
  })
  app.addHook('preSerialization', async (request, reply, response) => {
    const { method, query, body } = request
    const route = (request.routeOptions.url ?? '').replaceAll(/:(\w+)/g, '{$1}')
    const exchange = { method, route, query: { ...(query as object) }, request: body ?? null, status: reply.statusCode, response }
    if (exchanges.length < MAX_EXCHANGES) exchanges.push(exchange)
    return response
  })
}

function serveFiles(files: FastifyInstance, simulator: UmbraSimulator): void {
  files.addHook('onRequest', async ({ headers }) => void simulator.fileHeaders.push({ ...headers }))
  files.get<{ Querystring: { 'X-Amz-Signature'?: string } }>('/prod-collects/:task/:kind', async (request, reply) => {
    const file = simulator.fileBehind(String(request.query['X-Amz-Signature']))
    if (!file) return await reply.status(403).type('application/xml').send('<Error><Code>AccessDenied</Code></Error>')
    const { bytes, type } = (await simulator.files(file.task))[file.kind]
    return await sendFile(request, reply, { content: bytes, type, isBroken: simulator.take('brokenTransfers') })
  })
}
