/**
 * UP42's API as its documents and its Python client describe it, on loopback, with the scenes of the sandbox: sign-in by password,
 * search of hosts, orders with estimates, tasking with studies and quotations, and a storage behind signed links at another host. The
 * test decides what goes wrong.
 */
import fastify, { type FastifyInstance } from 'fastify'
import { REALM, serveApi } from './routes.ts'
import { Refused, Up42Simulator, type PlacedOrder, type Up42Faults, type Up42Options } from './simulator.ts'
import { listen } from '../listen.ts'
import { sendFile } from '../send-file.ts'

export interface SimulatedUp42 {
  /** Base URLs of the API and of the sign-in. */
  readonly url: string
  readonly authUrl: string
  /** `host:port` of the API and of the signed links. */
  readonly hosts: { readonly api: string; readonly files: string }
  readonly user: string
  readonly password: string
  readonly faults: Up42Faults
  readonly orders: readonly PlacedOrder[]
  /** Headers that the host of the signed links received. */
  readonly fileHeaders: readonly Record<string, unknown>[]
  /** How often somebody signed in. */
  signIns(): number
  /** Ends all sessions: the next request of each must sign in again. */
  revokeTokens(): void
  /** Tokens that are or were valid. */
  tokens(): readonly string[]
  /** The files of an order, as they are delivered. */
  files(orderId: string): ReturnType<Up42Simulator['files']>
  close(): Promise<void>
}

export async function startUp42(options: Up42Options): Promise<SimulatedUp42> {
  const simulator = new Up42Simulator(options)
  const app = fastify({ forceCloseConnections: true, routerOptions: { maxParamLength: 300 } })
  // Signed links are at another host, which must never see the token.
  const files = fastify({ forceCloseConnections: true })
  const issued: string[] = []
  guard(app, simulator)
  serveApi(app, simulator)
  serveFiles(files, simulator)
  const hosts = { api: await listen(app), files: await listen(files) }
  simulator.filesHost = hosts.files
  simulator.base = `http://${hosts.api}`
  const { user, password, faults, orders, fileHeaders } = simulator
  return {
    url: simulator.base,
    authUrl: `${simulator.base}${REALM}`,
    hosts,
    user,
    password,
    faults,
    orders,
    fileHeaders,
    signIns: () => simulator.signIns,
    revokeTokens() {
      issued.push(...simulator.tokens.keys())
      simulator.tokens.clear()
    },
    tokens: () => [...issued, ...simulator.tokens.keys()],
    files: async (orderId) => await simulator.files(simulator.order(orderId)),
    async close() {
      await app.close()
      await files.close()
      await simulator.renderer.close()
    },
  }
}

/** Bodies, errors and tokens. */
function guard(app: FastifyInstance, simulator: Up42Simulator): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  // The client says JSON even where it sends nothing.
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(['application/json', 'application/merge-patch+json'], { parseAs: 'string' }, (_request, body, done) =>
    done(null, body === '' ? null : JSON.parse(String(body))),
  )
  app.setErrorHandler((error, _request, reply) => {
    const status = error instanceof Refused ? error.status : ((error as { statusCode?: number }).statusCode ?? 500)
    const { message } = error as Error
    const body = { code: status, message, details: null }
    void reply.status(status).send(error instanceof Refused && error.isSearch ? { error: body } : body)
  })
  app.addHook('onRequest', async (request, reply) => {
    if (simulator.take('limited'))
      return await reply.status(429).header('retry-after', '1').send({ code: 429, message: 'Too many requests' })
    if (!request.url.startsWith(`${REALM}/token`) && !simulator.isSignedIn(request.headers.authorization))
      throw new Refused(401, 'Full authentication is required')
    return undefined
  })
}

function serveFiles(files: FastifyInstance, simulator: Up42Simulator): void {
  files.addHook('onRequest', async ({ headers }) => void simulator.fileHeaders.push({ ...headers }))
  files.get<{ Querystring: { signature?: string } }>('/user-storage/assets/:id', async (request, reply) => {
    const asset = simulator.assetBehind(String(request.query.signature))
    if (!asset) return await reply.status(403).type('application/xml').send('<Error><Code>ExpiredToken</Code></Error>')
    const { bytes, type } = (await simulator.files(asset.order))[asset.kind]
    return await sendFile(request, reply, { content: bytes, type, isBroken: simulator.take('brokenTransfers') })
  })
}
