/** The HTTP server: its limits, and the routes in the order in which they are registered. */
import type { BaseMaps } from '#core/base-maps.ts'
import type { Server } from 'node:http'
import net from 'node:net'
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { SignInPlatform } from '#access/sign-in.ts'
import type { EventStream } from '#background/event-stream.ts'
import { CHECK_INTERVAL_MS, CONNECTION_LIMITS, guardConnections, type ConnectionLimits } from '#core/connections.ts'
import { trusting, type IsTrusted } from '#core/proxies.ts'
import { currentSpan } from '#core/tracing.ts'
import { registerAuth } from './auth.ts'
import { registerAccountSettings } from './account-settings.ts'
import { registerContract } from './contract.ts'
import { registerErrors, sendError } from './errors.ts'
import { registerEventTypes } from './event-types.ts'
import { registerEvents } from './events.ts'
import { COMMON_HEADERS, registerHeaders } from './headers.ts'
import { registerHealth, type HealthParts } from './health.ts'
import { registerLimits, type Limits } from './limits.ts'
import type { Demo } from './local.ts'
import { redact } from './log.ts'
import { registerRequestTraces } from './traces.ts'
import { registerMailed } from './mailed.ts'
import { refuseMalformed } from './malformed.ts'
import { registerMcp } from './mcp/mcp.ts'
import { pathOf, watchRoutes, type MethodsOf } from './methods.ts'
import { registerOperations } from './operations.ts'
import { registerConsole, type ConsoleParts } from './pages/console.ts'
import { registerMailedPages } from './pages/mailed.ts'
import { registerPages } from './pages/pages.ts'
import { registerSharePage, registerShareUnlock } from './pages/share.ts'
import type { Observe, RouteParts } from './parts.ts'
import { registerPayments, type SandboxConfirmation } from './payments.ts'
import { registerAssets } from './projections/assets.ts'
import { registerCatalogRoutes } from './projections/catalog.ts'
import { registerProcesses } from './projections/processes.ts'
import { registerShareRoutes } from './projections/share.ts'
import { registerStac } from './projections/stac/routes.ts'
import { registerStapi } from './projections/stapi/routes.ts'
import { registerTiles } from './projections/tiles.ts'
import { registerUp42Assets } from './projections/up42/assets.ts'
import { registerUp42Catalog } from './projections/up42/catalog.ts'
import { registerUp42 } from './projections/up42/routes.ts'
import { registerUp42SignIn } from './projections/up42/sign-in.ts'
import { registerWmts } from './projections/wmts.ts'
import { registerProxyLimit } from './proxied.ts'
import { registerBodies, SIGN_IN_BYTES } from './read-body.ts'
import { registerSecondStep } from './second-step.ts'
import { registerTwoFactors } from './two-factors.ts'
import { registerSso } from './sso.ts'
import { registerVendors } from './vendors.ts'
import { registerWorkers } from './workers.ts'

interface ServerOptions extends HealthParts {
  auth: SignInPlatform
  stream: EventStream
  limits: Limits
  log: Logger
  /** Confirms payments as a user would in the browser; null unless the processor is the sandbox. */
  sandboxPayments: SandboxConfirmation | null
  /** False for a pure worker, which only serves its health. */
  api: boolean
  /** Addresses and networks whose forwarded headers are trusted. */
  trustedProxies: readonly string[]
  connections?: ConnectionLimits
  /** How long an idle connection stays open. */
  keepAliveSeconds: number
  /** While the process drains, each response closes its connection, so that the client's next request goes elsewhere. */
  isDraining: () => boolean
  /** The progress of the console's build, and where its files go. */
  console?: ConsoleParts
  /** Base maps of the operator. */
  baseMaps?: BaseMaps
  /** The demo's sign-in and share link, for the welcome page; null if there is no demo, or if the service is not local. */
  demo?: Demo
  /** Whether a successful call is logged at debug level only, as those that load the demo are. */
  isQuiet?: (request: FastifyRequest) => boolean
  /** The fraction of successful tile reads that is logged; all by default. */
  logTiles?: number
}

/** What `register*` functions choose from. */
interface ServerParts extends ServerOptions, RouteParts {
  isTrusted: IsTrusted
  methodsOf: MethodsOf
  demo: Demo
}

/** The signature of every `register*` function; each declares only the parts that it uses. */
type Register = (app: FastifyInstance, parts: ServerParts) => void

/** Hooks and routes of every process. */
const COMMON: readonly Register[] = [
  registerRequestTraces,
  registerRequestMetrics,
  registerBodies,
  registerDraining,
  registerHeaders,
  registerErrors,
  registerProxyLimit,
  registerHealth,
]

/** Routes of processes that serve the API. */
const API: readonly Register[] = [
  registerOperations,
  registerAssets,
  registerShareRoutes,
  registerTiles,
  registerCatalogRoutes,
  registerWmts,
  registerMcp,
  registerProcesses,
  registerWorkers,
  registerStac,
  registerStapi,
  registerUp42,
  registerUp42Catalog,
  registerUp42Assets,
  registerUp42SignIn,
  registerAuth,
  registerSecondStep,
  registerTwoFactors,
  registerAccountSettings,
  registerSso,
  registerEventTypes,
  registerEvents,
  registerPayments,
  registerVendors,
  registerContract,
  registerLimits,
  registerPages,
  registerSharePage,
  registerConsole,
  registerMailed,
  registerMailedPages,
  registerShareUnlock,
  registerRequestLog,
]

const REQUEST_TIMEOUT_MS = 120_000
const MAX_URL_LENGTH = 8_192

export function buildServer(options: ServerOptions): FastifyInstance {
  const { platform, api, trustedProxies, connections, keepAliveSeconds } = options
  const app = fastify({
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: keepAliveSeconds * 1_000,
    http: { headersTimeout: CONNECTION_LIMITS.headersMs, connectionsCheckingInterval: CHECK_INTERVAL_MS },
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    forceCloseConnections: 'idle',
    return503OnClosing: false, // What was accepted is served: a load balancer would pass a rejection on to the client.
    clientErrorHandler: refuseMalformed,
    // A URL that cannot be decoded reaches no hook and no route.
    frameworkErrors: (error, _request, reply) => void sendError(platform, error, reply.headers(COMMON_HEADERS)),
    exposeHeadRoutes: true,
    bodyLimit: SIGN_IN_BYTES,
    // Callers could forge a forwarded address, so it is read only from proxies that the operator named, from the right.
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
  })
  const isTrusted = trusting(trustedProxies)
  guardConnections(app.server, { limits: connections, isTrusted })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null)) // Bodies are read only when they are needed.
  const parts: ServerParts = {
    ...options,
    isTrusted,
    observe: observer(options),
    methodsOf: watchRoutes(app),
    demo: options.demo ?? (async () => null),
  }
  for (const register of api ? [...COMMON, ...API] : COMMON) register(app, parts)
  return app
}

/** Counts and logs each call. */
const observer =
  ({ metrics, log, isQuiet = () => false, logTiles = 1 }: ServerOptions): Observe =>
  (request, op, { status, trace }) => {
    const durationMs = performance.now() - trace.startedAtMs
    metrics.observeCall(op.id, status, durationMs / 1000)
    if (status < 400 && op.auditSubject && Math.random() >= logTiles) return // Failures are always logged.
    const { principal, organizationId, invocationId } = trace
    const traceId = currentSpan()?.traceId
    log[status < 400 && isQuiet(request) ? 'debug' : 'info'](
      {
        invocation: invocationId,
        operation: op.id,
        status,
        ms: Math.round(durationMs),
        principal: principal?.kind ?? 'none',
        organization: organizationId,
        address: request.ip,
        ...(traceId === undefined ? {} : { trace: traceId }),
      },
      'call',
    )
  }

/** By route and not by path, of which there are as many as callers like. */
function registerRequestMetrics(app: FastifyInstance, { metrics }: Pick<ServerOptions, 'metrics'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request
    metrics.observeRequest({ route: routeOptions.url ?? 'none', method, status: reply.statusCode, seconds: reply.elapsedTime / 1_000 })
    done()
  })
}

/** Requests that are not calls of operations, at debug level. */
function registerRequestLog(app: FastifyInstance, { log }: { log: Logger }): void {
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.url.startsWith('/v1/'))
      log.debug(
        { method: request.method, path: redact(pathOf(request.url)), status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
        'request',
      )
    done()
  })
}

function registerDraining({ server }: FastifyInstance, { isDraining }: { isDraining: () => boolean }): void {
  server.prependListener('request', (_request, response) => {
    if (isDraining()) response.shouldKeepAlive = false // Node sends `Connection: close`.
  })
}

/** How often connections that have become idle are closed while the server stops. */
const CLOSE_IDLE_MS = 50

/** Lets calls in progress finish, and closes the connections that their clients would keep for the next call. */
export async function closeServer(app: FastifyInstance): Promise<void> {
  await stopListening(app.server)
  const closing = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_MS)
  try {
    await app.close()
  } finally {
    clearInterval(closing)
  }
}

/** A round of the event loop in which there was nothing else to do takes less. */
const QUIET_ROUND_MS = 0.05
const QUIET_WITHIN_MS = 2_000
/** Whoever still connects without a pause by then ignores that the process is not ready. */
const ACCEPTS_WITHIN_MS = 5_000

/**
 * A listener that closes resets the connections that nobody has accepted yet, and a load balancer does not repeat what it has sent on
 * them. A round of the event loop accepts one of those that wait. So the listener closes right after a round that accepted none, and in
 * which no other work took time, during which more could have come.
 */
async function stopListening(server: Server): Promise<void> {
  let hasAccepted = false
  const note = () => void (hasAccepted = true)
  server.on('connection', note)
  const nextRound = () => new Promise<void>((resolve) => void setImmediate(resolve))
  await nextRound()
  const startedMs = performance.now()
  for (let endedMs = startedMs; endedMs - startedMs < ACCEPTS_WITHIN_MS;) {
    const beganMs = performance.now()
    hasAccepted = false
    await nextRound()
    endedMs = performance.now()
    if (!hasAccepted && (endedMs - beganMs < QUIET_ROUND_MS || endedMs - startedMs > QUIET_WITHIN_MS)) break
  }
  // The port alone, as servers of TCP close: one of HTTP first closes every idle connection, which takes time too. That comes later.
  net.Server.prototype.close.call(server)
  server.off('connection', note)
}
