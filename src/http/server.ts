import { createHash, timingSafeEqual } from 'node:crypto'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { CHECK_INTERVAL_MS, CONNECTION_LIMITS, guardConnections, KEEP_ALIVE_MS, type ConnectionLimits } from '#core/connections.ts'
import { EVENT_TYPES } from '#core/event-types.ts'
import { newId } from '#core/ids.ts'
import { Problem, problem, type ProblemSlug } from '#core/problem.ts'
import { trusting } from '#core/proxies.ts'
import type { AnyOperation } from '#operation.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import type { Platform } from '#pipeline/platform.ts'
import { problemReply } from '#pipeline/reply.ts'
import type { SignInPlatform } from '#access/sign-in.ts'
import { asProblem, concernsOperator } from '#pipeline/outside-problems.ts'
import type { Logger } from 'pino'
import { registerAssets } from './projections/assets.ts'
import { registerAuth } from './auth.ts'
import { linger, readBody, SIGN_IN_BYTES, USUAL_BYTES } from './read-body.ts'
import { takeSlot } from './caller.ts'
import { credentialOf } from './credential.ts'
import { COMMON_HEADERS, registerHeaders } from './headers.ts'
import { refuseMalformed } from './malformed.ts'
import { pathOf, watchRoutes, type MethodsOf } from './methods.ts'
import { redact } from './log.ts'
import type { EventStream } from '#background/event-stream.ts'
import { registerEvents } from './events.ts'
import type { Metrics } from './metrics.ts'
import { isOwnRequest } from './local.ts'
import { limitProxied } from './proxied.ts'
import { publicDocument, registerLimits, sendDocument, type Limits, type PublicDocument } from './limits.ts'
import { openApiDocument } from './openapi.ts'
import { registerMcp } from './mcp/mcp.ts'
import { registerOperations, send } from './operations.ts'
import { registerVendors } from './vendors.ts'
import { registerPayments, type SandboxConfirmation } from './payments.ts'
import { registerConsole, type ConsoleParts } from './pages/console.ts'
import { notFoundPage, sendPage } from './pages/layout.ts'
import { registerPages } from './pages/pages.ts'
import type { Demo } from './local.ts'
import { registerShareUnlock, registerSharePage } from './pages/share.ts'
import { registerMailed } from './mailed.ts'
import { registerMailedPages } from './pages/mailed.ts'
import { registerShareRoutes } from './projections/share.ts'
import { registerStac } from './projections/stac/routes.ts'
import { registerTiles } from './projections/tiles.ts'
import { registerCatalogRoutes } from './projections/catalog.ts'
import { registerUp42Assets } from './projections/up42/assets.ts'
import { registerUp42Catalog } from './projections/up42/catalog.ts'
import { registerUp42 } from './projections/up42/routes.ts'
import { registerUp42SignIn } from './projections/up42/sign-in.ts'
import { registerWmts } from './projections/wmts.ts'
import { registerProcesses } from './projections/processes.ts'
import { registerWorkers } from './workers.ts'

interface ServerOptions {
  platform: Platform
  auth: SignInPlatform
  stream: EventStream
  limits: Limits
  log: Logger
  metrics: Metrics
  /** False while starting and stopping. */
  isReady: () => boolean
  /** Of the database. */
  diskSpace: { isExhausted(): Promise<boolean> }
  /** What a person does in their browser with the real processor; null where that is not the sandbox. */
  sandboxPayments: SandboxConfirmation | null
  /** False for a pure worker, which only tells how it is. */
  api: boolean
  /** Whoever reaches the port sits at the machine. */
  isLocal: boolean
  /** Addresses and networks whose forwarded headers are believed. */
  trustedProxies: readonly string[]
  /** Bearer for `/metrics`; empty: it answers only where local. */
  metricsToken: string
  connections?: ConnectionLimits
  /** How far the console is, and where its files go. */
  console?: ConsoleParts
  /** The demo's sign-in and link, for a page that shows them; null where there is none, or where strangers could read it. */
  demo?: Demo
  /** Whether a successful call is logged at debug level only, as those that load the demo are. */
  isQuiet?: (request: FastifyRequest) => boolean
}

const REQUEST_TIMEOUT_MS = 120_000
const MAX_URL_LENGTH = 8_192

export function buildServer(options: ServerOptions): FastifyInstance {
  const { platform, auth, stream, log, api, sandboxPayments, isLocal, trustedProxies, connections } = options
  const app = fastify({
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: CONNECTION_LIMITS.headersMs, connectionsCheckingInterval: CHECK_INTERVAL_MS },
    routerOptions: { maxParamLength: MAX_URL_LENGTH },
    forceCloseConnections: 'idle',
    clientErrorHandler: refuseMalformed,
    // An address that cannot be decoded reaches no hook and no route.
    frameworkErrors: (error, _request, reply) => void refuse(platform, error, reply.headers(COMMON_HEADERS)),
    exposeHeadRoutes: true,
    // A forwarded address is the caller's own claim, unless a proxy that the operator named says so: read from the right.
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
  })
  const isTrusted = trusting(trustedProxies)
  guardConnections(app.server, { limits: connections, isTrusted })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null)) // Nothing is read before somebody wants it.
  registerBodies(app)
  registerAnswers(app, platform)
  limitProxied(app, isTrusted, connections)
  registerHealth(app, options)
  if (!api) return app
  const observe = observer(options)
  const demo = options.demo ?? (async () => null)
  registerOperations(app, platform, observe)
  registerAssets(app, { platform, observe })
  registerShareRoutes(app, { platform, observe })
  registerTiles(app, { platform, observe })
  registerCatalogRoutes(app, { platform, observe })
  registerWmts(app, { platform, observe })
  registerMcp(app, { platform, observe })
  registerProcesses(app, { platform, observe })
  registerWorkers(app, platform, auth.tokens)
  registerStac(app, { platform, observe, trustedProxies })
  registerUp42(app, { platform, observe })
  registerUp42Catalog(app, { platform, observe })
  registerUp42Assets(app, { platform, observe, trustedProxies })
  registerUp42SignIn(app, { platform, observe }, { platform, auth, demo })
  registerAuth(app, { platform, auth, isLocal, demo })
  registerEventTypes(app, platform)
  registerEvents(app, { platform, stream, isTrusted })
  registerPayments(app, { platform, sandbox: sandboxPayments, isLocal })
  registerVendors(app, platform)
  registerContract(app, platform)
  registerLimits(app, options.limits)
  registerPages(app, platform, demo)
  registerScreens(app, options)
  registerMailed(app, platform, auth)
  registerMailedPages(app)
  registerShareUnlock(app, platform)
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.url.startsWith('/v1/'))
      log.debug(
        { method: request.method, path: redact(pathOf(request.url)), status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
        'request',
      )
    done()
  })
  return app
}

/** Counts and logs each call. */
const observer =
  ({ metrics, log, isQuiet = () => false }: ServerOptions) =>
  (request: FastifyRequest, op: AnyOperation, { status, trace }: Invoked): void => {
    const durationMs = performance.now() - trace.startedAtMs
    metrics.observeCall(op.id, status, durationMs / 1000)
    const { principal, organizationId, invocationId } = trace
    log[status < 400 && isQuiet(request) ? 'debug' : 'info'](
      {
        invocation: invocationId,
        operation: op.id,
        status,
        ms: Math.round(durationMs),
        principal: principal?.kind ?? 'none',
        organization: organizationId,
        address: request.ip,
      },
      'call',
    )
  }

/** What people open in a browser without being sent there by an operation: the page of a share, and the console. */
function registerScreens(app: FastifyInstance, { console }: ServerOptions): void {
  registerSharePage(app)
  registerConsole(app, console)
}

/** Operations read their bodies themselves, once the caller has been let in; what other routes take is small. */
function registerBodies(app: FastifyInstance): void {
  app.addHook('preHandler', async (request) => {
    if (request.method !== 'POST' || /^\/((v1|v2|stac|catalog)\/|mcp\b)/.test(request.url)) return
    request.body = await readBody(request.raw, /^\/(webhooks|processes)\//.test(request.url) ? USUAL_BYTES : SIGN_IN_BYTES)
  })
  app.addHook('onResponse', (request, _reply, done) => {
    linger(request.raw)
    done()
  })
}

/** How often connections that have become idle are closed while the server stops. */
const CLOSE_IDLE_MS = 50

/** Lets the calls under way finish. Each leaves a connection that its client would keep for the next one: those are closed too. */
export async function closeServer(app: FastifyInstance): Promise<void> {
  const closing = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_MS)
  try {
    await app.close()
  } finally {
    clearInterval(closing)
  }
}

/** What the web framework refuses by itself, in our own words. */
const FRAMEWORK_PROBLEMS: Record<number, { slug: ProblemSlug; detail: string }> = {
  400: { slug: 'bad-request', detail: 'The request could not be read' },
  404: { slug: 'not-found', detail: 'There is nothing at this address' },
  413: { slug: 'payload-too-large', detail: 'The body is larger than this address takes' },
  415: { slug: 'unsupported-media-type', detail: 'Send Content-Type: application/json' },
  503: { slug: 'unavailable', detail: 'The service is stopping' },
}

/** What every answer has, and those to whom no route answers. */
function registerAnswers(app: FastifyInstance, platform: Platform): void {
  const methodsOf = watchRoutes(app)
  registerHeaders(app, { https: platform.baseUrl().startsWith('https:'), methodsOf })
  registerErrors(app, platform, methodsOf)
}

function registerErrors(app: FastifyInstance, platform: Platform, methodsOf: MethodsOf): void {
  const shownPath = (url: string) => redact(pathOf(url).slice(0, 200))
  const requireOtherMethod = (url: string) => {
    const methods = methodsOf(pathOf(url)).filter((method) => method !== 'HEAD')
    if (methods.length === 0) return
    throw problem('method-not-allowed', `${shownPath(url)} takes ${methods.join(' or ')}`, { headers: { Allow: methods.join(', ') } })
  }
  // Fastify would find fault with its body first; no address takes it.
  app.addHook('onRequest', async ({ method, url }) => {
    if (method === 'QUERY') requireOtherMethod(url)
  })
  app.setNotFoundHandler((request, reply) => {
    const path = shownPath(request.url)
    requireOtherMethod(request.url)
    if (request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? ''))
      return sendPage(reply.code(404), notFoundPage(path))
    throw problem('not-found', `There is nothing at ${path}`)
  })
  app.setErrorHandler((error: FastifyError | Problem, _request, reply) => refuse(platform, error, reply))
}

function refuse(platform: Platform, error: FastifyError | Problem, reply: FastifyReply): FastifyReply {
  const known = error instanceof Problem ? null : FRAMEWORK_PROBLEMS[error.statusCode ?? 500]
  const shown = known ? new Problem(known.slug, known.detail) : (asProblem(error) ?? error)
  const invocationId = newId()
  if (!(shown instanceof Problem) || concernsOperator(error)) platform.onFault(error, invocationId, 'http')
  return send(reply, problemReply(shown, invocationId, platform.baseUrl()))
}

function registerHealth(app: FastifyInstance, { platform, metrics, isReady, diskSpace, isLocal, metricsToken }: ServerOptions): void {
  app.get('/health', async () => ({ status: 'ok' }))
  app.get('/ready', async () => {
    if (!isReady()) throw problem('unavailable', 'The service is starting or stopping')
    if (await diskSpace.isExhausted()) throw problem('insufficient-storage', 'The database has no disk space left')
    return { status: 'ready' }
  })
  app.get('/metrics', async (request, reply) => {
    requireWatcher(request, { isLocal: isLocal && isOwnRequest(request, platform.baseUrl()), metricsToken })
    return reply.type(metrics.contentType).send(await metrics.text())
  })
}

/** Figures tell who uses a service and how much: they are for whoever runs it. */
function requireWatcher(request: FastifyRequest, { isLocal, metricsToken }: Pick<ServerOptions, 'isLocal' | 'metricsToken'>): void {
  if (!metricsToken && isLocal) return
  if (!metricsToken) throw problem('forbidden', 'The operator of this service has set no METRICS_TOKEN, so its metrics are closed')
  const given = credentialOf(request)?.secret ?? ''
  const digest = (text: string) => createHash('sha256').update(text).digest()
  if (!timingSafeEqual(digest(given), digest(metricsToken)))
    throw problem('unauthorized', 'Send the METRICS_TOKEN of this service as a bearer token', {
      headers: { 'WWW-Authenticate': 'Bearer realm="metrics"' },
    })
}

function registerEventTypes(app: FastifyInstance, platform: Platform): void {
  app.get('/v1/event-types', async (request, reply) => {
    const { principal, allowance } = await platform.authenticator.authenticate(credentialOf(request))
    if (allowance) reply.headers((await platform.rateLimiter.admit(allowance)).headers)
    await takeSlot(platform, request, principal)
    return { event_types: EVENT_TYPES }
  })
}

function registerContract(app: FastifyInstance, platform: Platform): void {
  let document: PublicDocument | null = null
  app.get('/openapi.json', async (request, reply) => {
    document ??= publicDocument(openApiDocument(platform.operations, platform.baseUrl()))
    return sendDocument(request, reply, document)
  })
}
